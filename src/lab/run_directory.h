// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
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

// A directory with run.json and rows.jsonl. Belongs to one thread. Of those who write rows only one
// has it at a time: it is locked until this object is gone.
class RunDirectory {
 public:
  // A new one, made with its parents; one that has anything in it is refused. Errors: kConflict,
  // kNoSpace, kUnavailable.
  static Result<RunDirectory> create(const Files& files, const std::string& path,
                                     const RunInfo& info);
  enum class Use {
    kRead,
    kGoOn,  // rows are added: kConflict while somebody else does
  };
  // Rows that cannot be read (one that a crash cut off) are
  // dropped and counted in `info().not_observable`. Errors: kNotFound, kCorrupt (of run.json),
  // kUnavailable.
  static Result<RunDirectory> open(const Files& files, const std::string& path,
                                   Use use = Use::kRead);

  // Returns once the row is on the device. When the disk is full the row is kept in memory, tried
  // again with the next one, and the error is told.
  Result<> add(const Trial& trial);
  // Replaces run.json in one step. Where that fails, info() is the new one all the same, and it is
  // written with the next row.
  Result<> update(const RunInfo& info);
  // Tries once more to write what could not be written.
  Result<> flush();
  // Why something of it is in memory alone; empty: all is on the device.
  const std::string& not_written() const { return not_written_; }
  // So much of rows() is not on the device.
  std::size_t rows_not_written() const { return rows_.size() - written_; }

  // Takes back create(), where nothing has been measured.
  void discard();

  // A directory for what does not outlive the run, once somebody has made one; else path().
  const std::string& scratch() const { return scratch_.empty() ? path_ : scratch_; }
  void set_scratch(std::string made) { scratch_ = std::move(made); }

  const std::string& path() const { return path_; }
  const RunInfo& info() const { return info_; }
  const std::vector<Trial>& rows() const { return rows_; }

  // Another file of the run: "report.html", "rows.csv". In one step.
  Result<> write(const std::string& name, const std::string& content);

 private:
  RunDirectory(const Files& files, std::string path, RunInfo info);

  Result<> lock();
  Result<> read_rows();
  Result<> open_rows();
  Result<> write_rows();

  const Files* files_;
  std::string path_;
  std::string scratch_;
  RunInfo info_;
  bool info_is_written_ = true;
  bool made_directory_ = false;
  std::string not_written_;
  std::vector<Trial> rows_;
  std::size_t written_ = 0;  // of rows_
  std::uint64_t end_ = 0;    // of what is written, in rows.jsonl
  Fd file_;
  Fd lock_;
};

}  // namespace hearth::lab
