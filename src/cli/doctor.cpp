// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/doctor_case.h"
#include "cli/doctor_notes.h"
#include "cli/doctor_view.h"
#include "cli/session.h"
#include "lab/doctor/diagnosis.h"

namespace hearth::cli {
namespace {

namespace json = boost::json;

struct DoctorOptions {
  std::size_t apply = 0;  // number of a finding; 0: none
  std::size_t done = 0;   // likewise: applied by hand
  bool check = false;
  bool facts = false;
};

DoctorNotes notes() { return {Files::real(), DoctorNotes::usual_path(process_environment)}; }

Result<Courses> courses_of(const Session& session, const DoctorCase& found) {
  Result<std::vector<lab::Applied>> applied = notes().of(session.api.address());
  if (!applied) return Failed{applied.error()};
  Courses courses;
  for (lab::Applied& one : *applied) {
    const lab::Course course = lab::course_of(one, found.replies, found.now_us);
    courses.emplace_back(std::move(one), course);
  }
  return courses;
}

json::array courses_json(const Courses& courses) {
  json::array list;
  for (const auto& [applied, course] : courses) list.push_back(to_json(applied, course));
  return list;
}

int show_json(const DoctorCase& found, const std::vector<lab::Finding>& findings,
              const Courses& courses) {
  json::array list;
  for (const lab::Finding& finding : findings) list.push_back(to_json(finding));
  const json::object all{{"replies", found.replies.size()},
                         {"days", lab::days_of(found.replies, found.now_us)},
                         {"findings", std::move(list)},
                         {"applied", courses_json(courses)},
                         {"facts", to_json(found.facts)}};
  print(json::serialize(all) + "\n");
  return kExitOk;
}

int show(const Session& session, const DoctorOptions& options, const DoctorCase& found,
         const std::vector<lab::Finding>& findings) {
  const Result<Courses> courses = courses_of(session, found);
  if (!courses) return report(courses.error());
  if (session.json()) return show_json(found, findings, *courses);
  const std::string what_came = courses_view(*courses, found.now_us, session.out);
  if (options.check) {
    print(what_came.empty() ? "No remedy was applied by `hearth doctor` yet\n" : what_came);
    return kExitOk;
  }
  std::string text;
  if (options.facts || session.out.terminal) text = facts_view(found.facts, session.out) + "\n";
  const LookedAt looked_at{found.replies.size(), lab::days_of(found.replies, found.now_us)};
  text += findings_view(findings, looked_at, session.out);
  if (!what_came.empty()) text += "\n" + what_came;
  print(text);
  return kExitOk;
}

int note(const Session& session, const lab::Finding& finding, std::int64_t now_us) {
  lab::Applied applied{session.api.address(), finding.code, finding.model, finding.remedy.command,
                       now_us};
  const Result<> kept = notes().add(std::move(applied));
  if (!kept) return report(Error{kept.error()}.during("it was applied, but not noted"));
  if (!session.json()) {
    print(fmt::format("applied: {}\nWhat comes of it: hearth doctor --check\n",
                      finding.remedy.command));
  } else {
    print(json::serialize(to_json(finding)) + "\n");
  }
  return kExitOk;
}

int apply(const Session& session, const lab::Finding& finding, std::int64_t now_us) {
  const lab::Remedy& remedy = finding.remedy;
  if (!remedy.can_apply()) {
    return report(Error{
        ErrorCode::kUnsupported,
        fmt::format("this is not the server's to do: {}. Once it is done: hearth doctor --done N",
                    remedy.command.empty() ? remedy.text : remedy.command)});
  }
  json::object body{{"model", finding.model}};
  if (!remedy.layer.empty()) body["layer"] = remedy.layer;
  const auto answer = session.api.post("/api/hearth/" + remedy.action, json::serialize(body));
  if (!answer) return report(answer.error());
  return note(session, finding, now_us);
}

int doctor(const Session& session, const DoctorOptions& options) {
  const Result<DoctorCase> found = doctor_case(session);
  if (!found) return report(found.error());
  const auto findings = lab::diagnose(found->facts, found->replies, found->now_us);
  const std::size_t number = options.apply > 0 ? options.apply : options.done;
  if (number == 0) return show(session, options, *found, findings);
  if (number > findings.size()) {
    return report(Error{ErrorCode::kNotFound, fmt::format("there is no finding {}; there are {}",
                                                          number, findings.size())});
  }
  const lab::Finding& chosen = findings[number - 1];
  return options.apply > 0 ? apply(session, chosen, found->now_us)
                           : note(session, chosen, found->now_us);
}

}  // namespace

void add_doctor(Program& program) {
  // Lives as long as the callback that owns it.
  auto options = std::make_shared<DoctorOptions>();
  auto* verb = program.verb("doctor", "What made replies wait in the last days, and what to do",
                            [options](Session& session) { return doctor(session, *options); });
  auto* apply = verb->add_option("--apply", options->apply,
                                 "Do what finding N says, and note when it was done");
  apply->type_name("N")->check(CLI::PositiveNumber);
  verb->add_option("--done", options->done, "Note that you did what finding N says")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->excludes(apply);
  verb->add_flag("--check", options->check, "Only what came of the remedies that were applied");
  verb->add_flag("--facts", options->facts, "The machine's and the server's facts in a pipe, too");
  verb->footer(example("hearth doctor --apply 1"));
}

}  // namespace hearth::cli
