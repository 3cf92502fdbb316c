// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/files.h"
#include "base/result.h"
#include "lab/trial.h"

namespace hearth::lab {

// What a run is about; kept beside its rows, so that a report can be made again at any time.
struct RunInfo {
  std::string study;
  std::int64_t started_wall_us = 0;
  std::uint64_t seed = 0;
  std::string model;                            // for people: name, size
  std::string machine;                          // JSON, see Machine::description
  std::string options;                          // JSON object: what the command line said
  std::vector<std::string> arms;                // in the order of the report
  std::map<std::string, std::string> about;     // arm -> what it stands for
  std::map<std::string, std::string> versions;  // side -> version
  std::map<std::string, std::string> left_out;  // "side: arm" -> why it was not made
  std::vector<std::string> not_observable;      // sentences
};

// A directory with run.json and rows.jsonl. Belongs to one thread.
class RunDirectory {
 public:
  // A new one, made with its parents; one that holds a run is refused. Errors: kConflict, kNoSpace,
  // kUnavailable.
  static Result<RunDirectory> create(const Files& files, const std::string& path,
                                     const RunInfo& info);
  // To read it, or to go on with it. Rows that cannot be read (one that a crash cut off) are
  // dropped and counted in `info().not_observable`. Errors: kNotFound, kCorrupt (of run.json),
  // kUnavailable.
  static Result<RunDirectory> open(const Files& files, const std::string& path);

  // Returns once the row is on the device. When the disk is full the row is kept in memory, tried
  // again with the next one, and the error is told.
  Result<> add(const Trial& trial);
  // Replaces run.json in one step.
  Result<> update(const RunInfo& info);

  const std::string& path() const { return path_; }
  const RunInfo& info() const { return info_; }
  const std::vector<Trial>& rows() const { return rows_; }

  // Another file of the run: "report.html", "rows.csv". In one step.
  Result<> write(const std::string& name, const std::string& content);

 private:
  RunDirectory(const Files& files, std::string path, RunInfo info);

  Result<> read_rows();
  Result<> open_rows();

  const Files* files_;
  std::string path_;
  RunInfo info_;
  std::vector<Trial> rows_;
  std::size_t written_ = 0;  // of rows_
  std::uint64_t end_ = 0;    // of what is written, in rows.jsonl
  Fd file_;
};

}  // namespace hearth::lab
