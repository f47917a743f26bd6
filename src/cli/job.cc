// kvarts job: what the server does in the background.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/command.h"
#include "cli/key_words.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr uint64_t kPage = 100;

const Syntax& ListSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {},
               .options = {{"limit", OptionKind::kCount, "N", "at most so many, up to 1000 (default 100)", {}, 1}},
               .description = "Lists jobs, the ones that have ended among them, with how far they have come.\n"});
  return kSyntax;
}

const Syntax& ShowSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"ID"}}, .options = {}, .description = "Shows all that is known about a job.\n"});
  return kSyntax;
}

const Syntax& PauseSyntax() {
  static const Syntax kSyntax =
      OverApi({.arguments = {{"ID"}}, .options = {}, .description = "Stops a job where it is, until it is resumed.\n"});
  return kSyntax;
}

const Syntax& ResumeSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"ID"}}, .options = {}, .description = "Lets a job go on that was paused, or that has failed.\n"});
  return kSyntax;
}

const Syntax& CancelSyntax() {
  static const Syntax kSyntax = OverApi({.arguments = {{"ID"}},
                                         .options = {},
                                         .description = "Ends a job for good. What it has done so far stays done.\n"});
  return kSyntax;
}

const Syntax& WaitSyntax() {
  static const Syntax kSyntax = OverApi(
      {.arguments = {{"ID"}},
       .options = {},
       .description = "Waits until a job has ended, and shows how far it has come meanwhile. Ends with 0 when it\n"
                      "is done, and with 1 when it failed or was cancelled. Ctrl-C ends the waiting alone.\n"});
  return kSyntax;
}

Result<int> RunList(const Arguments& arguments) {
  const uint64_t limit = arguments.Number("limit").value_or(kPage);
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = "/jobs" + Query().Add("limit", std::to_string(limit)).text()}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
  KVARTS_TRY(const std::vector<JsonObject> items, answer.Objects("items"));
  Print(TableOf(items, {{"id", "id"},
                        {"kind", "kind"},
                        {"table", "table"},
                        {"index", "index"},
                        {"state", "state"},
                        {"done", "done"},
                        {"total", "total"},
                        {"updated", "updated"},
                        {"error", "error"}}));
  if (!answer.Text("next").empty() && OutputIsTerminal()) Print(Dim("there are more: --limit N\n"));
  return kExitOk;
}

Result<int> RunShow(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Reply reply, client->Call({.path = KeyPath("/jobs/", arguments.at(0))}));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject job, JsonObject::Parse(reply.body));
  Print(FieldsOf(job));
  return kExitOk;
}

Result<int> Change(const Arguments& arguments, std::string_view action, std::string_view done) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const std::string path = fmt::format("{}/{}", KeyPath("/jobs/", arguments.at(0)), action);
  KVARTS_TRY(const Reply reply, client->Call({.method = "POST", .path = path}));
  if (!PrintedAsJson(arguments, reply)) Print(fmt::format("{} job {}\n", done, Harmless(arguments.at(0))));
  return kExitOk;
}

Result<int> RunPause(const Arguments& arguments) { return Change(arguments, "pause", "paused"); }
Result<int> RunResume(const Arguments& arguments) { return Change(arguments, "resume", "resumed"); }
Result<int> RunCancel(const Arguments& arguments) { return Change(arguments, "cancel", "cancelled"); }

Result<int> RunWait(const Arguments& arguments) {
  KVARTS_TRY(const auto client, Client::Open(arguments));
  return WaitForJob(*client, arguments, arguments.at(0));
}

constexpr Command kCommands[] = {
    {"list", "All jobs", &ListSyntax, &RunList},
    {"show", "All that is known about a job", &ShowSyntax, &RunShow},
    {"pause", "Stop a job where it is", &PauseSyntax, &RunPause},
    {"resume", "Let a job go on", &ResumeSyntax, &RunResume},
    {"cancel", "End a job for good", &CancelSyntax, &RunCancel},
    {"wait", "Wait until a job has ended", &WaitSyntax, &RunWait},
    {"watch", "The same: show how far it has come until it has ended", &WaitSyntax, &RunWait},
};

}  // namespace

const Syntax& JobSyntax() {
  static const Syntax kSyntax = {
      .arguments = {},
      .options = {},
      .description =
          "Jobs are long work in small steps: building an index, moving keys into a namespace,\n"
          "erasing the keys of one. They go on after a restart. With --data DIR they run while the command does,\n"
          "with --shards FILE also in the servers that run on the same PostgreSQL.\n"};
  return kSyntax;
}

std::span<const Command> JobCommands() { return kCommands; }

}  // namespace kvarts::cli
