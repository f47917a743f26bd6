// kvarts table verify and repair: indexes held against their rows, and mended.
#include "cli/table_drift.h"

#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/key_words.h"
#include "cli/table_words.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

std::vector<OptionSyntax> JobOptions() {
  return {{"throttle", OptionKind::kCount, "N", "at most so many rows and entries per second", {}, 1},
          {"wait", OptionKind::kFlag, {}, "wait for the job, and show what it found"}};
}

std::string BodyOf(const Arguments& arguments) {
  std::string body;
  JsonWriter json(&body);
  json.BeginObject();
  if (const auto throttle = arguments.Number("throttle")) json.Field("throttle", *throttle);
  if (const auto verified = arguments.Text("verified")) json.Field("verified", Harmless(*verified));
  if (const auto repair = arguments.Text("undo")) json.Field("repair", Harmless(*repair));
  json.EndObject();
  return body;
}

// "missing in by_state: {"customer":"ada","n":1}"; an entry without a row by itself, a row that is wrong without an
// index.
std::string FindingLine(const JsonObject& finding) {
  const std::string row = CellOf(finding, "row");
  const std::string index = CellOf(finding, "index");
  return fmt::format("{} {}: {}\n", CellOf(finding, "kind"), index.empty() ? "row" : "in " + index,
                     row.empty() ? CellOf(finding, "entry") : row);
}

// All that a job has found, page after page: how much it is.
Result<uint64_t> PrintFindings(Client& client, const Arguments& arguments, const std::string& path) {
  uint64_t count = 0;
  std::string from = "0";
  do {
    KVARTS_TRY(const Reply reply, client.Call({.path = path + Query().Add("from", from).text()}));
    KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
    KVARTS_TRY(const std::vector<std::string> findings, answer.Elements("findings"));
    for (const std::string& finding : findings) {
      KVARTS_TRY(const JsonObject object, JsonObject::Parse(finding));
      Print(arguments.Has("json") ? finding + "\n" : FindingLine(object));
    }
    count += findings.size();
    from = answer.Text("next");
  } while (!from.empty());
  return count;
}

Status CheckRepair(const Arguments& arguments) {
  if (arguments.Has("undo") && (arguments.Has("verified") || arguments.Has("throttle"))) {
    return Error(ErrorCode::kInvalidArgument, "--undo goes by its job alone: without --verified and --throttle");
  }
  return CheckTableWord(arguments);
}

struct Outcome {
  int code = kExitOk;
  uint64_t findings = 0;
  std::string job = {};  // one that was waited for, and is done

  // Whether there is more to be said to people of what it did.
  bool Explained(const Arguments& arguments) const { return !job.empty() && !arguments.Has("json"); }
};

// What a verification that has found nothing has looked at.
Status PrintCompared(Client& client, const std::string& id) {
  KVARTS_TRY(const Reply reply, client.Call({.path = KeyPath("/jobs/", id)}));
  KVARTS_TRY(const JsonObject job, JsonObject::Parse(reply.body));
  const auto rows = job.Uint("rows");
  const auto entries = job.Uint("entries");
  if (!rows || !entries) return {};
  Print(fmt::format("compared {} with {}: nothing differs\n", Counted(*rows, "row", "rows"),
                    Counted(*entries, "entry", "entries")));
  return {};
}

// "mended 6 entries, left 1".
Status PrintChanged(Client& client, const std::string& id, std::string_view verb) {
  KVARTS_TRY(const Reply reply, client.Call({.path = KeyPath("/jobs/", id)}));
  KVARTS_TRY(const JsonObject job, JsonObject::Parse(reply.body));
  const uint64_t left = job.Uint("left").value_or(0);
  Print(fmt::format("{} {}{}\n", verb, Counted(job.Uint(verb).value_or(0), "entry", "entries"),
                    left == 0 ? std::string() : fmt::format(", left {}", left)));
  return {};
}

Result<Outcome> RunJob(Client& client, const Arguments& arguments, std::string_view action) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const Reply reply, client.Call(JsonRequest("POST", fmt::format("{}/{}", url, action), BodyOf(arguments))));
  Outcome outcome;
  KVARTS_TRY(outcome.code, FollowJob(client, arguments, reply));
  if (!arguments.Has("wait") || outcome.code != kExitOk) return outcome;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  outcome.job = answer.Text("job");
  KVARTS_TRY(outcome.findings, PrintFindings(client, arguments, KeyPath(url + "/findings/", outcome.job)));
  return outcome;
}

}  // namespace

const Syntax& TableVerifySyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}},
               .options = JobOptions(),
               .description = "Compares every index of a table with its rows, by a job, while both are in use. With\n"
                              "--wait it prints what differs, and ends with 3 when something does; without, that is\n"
                              "shown by `kvarts table findings TABLE JOB`.\n\n"
                              "  kvarts table verify acme/shop/orders --wait\n",
               .check = &CheckTableWord});
  return kSyntax;
}

Result<int> RunTableVerify(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Outcome outcome, RunJob(*client, arguments, "verify"));
  if (outcome.findings > 0) return kExitFound;
  if (outcome.Explained(arguments)) KVARTS_CHECK_OK(PrintCompared(*client, outcome.job));
  return outcome.code;
}

const Syntax& TableFindingsSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"TABLE"}, {"JOB"}},
               .options = {},
               .description = "Prints what a job of verify, repair or an index has found. Ends with 3 when it is\n"
                              "something. It is kept for 30 days.\n\n"
                              "  kvarts table findings acme/shop/orders 0197f0a2-7c1e-7b52-9d7c-5a4c8a4b1f00\n",
               .check = &CheckTableWord});
  return kSyntax;
}

Result<int> RunTableFindings(const Arguments& arguments) {
  KVARTS_TRY(const std::string url, TableUrl(arguments.at(0)));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const uint64_t count, PrintFindings(*client, arguments, KeyPath(url + "/findings/", arguments.at(1))));
  return count > 0 ? kExitFound : kExitOk;
}

const Syntax& TableRepairSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"TABLE"}},
       .options = Joined({{"verified", OptionKind::kText, "JOB", "mend what this job of verify found (default: look)"},
                          {"undo", OptionKind::kText, "JOB", "take back what this job of repair changed"}},
                         JobOptions()),
       .description = "Makes the indexes of a table what its rows say, by a job, and keeps a journal of what it\n"
                      "changed, by which it can be taken back.\n\n"
                      "  kvarts table repair acme/shop/orders --wait\n"
                      "  kvarts table repair acme/shop/orders --undo 0197f0a2-7c1e-7b52-9d7c-5a4c8a4b1f00\n",
       .check = &CheckRepair});
  return kSyntax;
}

Result<int> RunTableRepair(const Arguments& arguments) {
  const bool undo = arguments.Has("undo");
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Outcome outcome, RunJob(*client, arguments, undo ? "undo" : "repair"));
  if (outcome.Explained(arguments)) KVARTS_CHECK_OK(PrintChanged(*client, outcome.job, undo ? "undone" : "mended"));
  return outcome.code;
}

}  // namespace kvarts::cli
