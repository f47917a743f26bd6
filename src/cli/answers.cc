#include "cli/answers.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/key_words.h"
#include "cli/progress_bar.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr Duration kJobPoll = Duration::Millis(250);

std::string ListText(const std::string& array) {
  std::string out;
  JsonReader json{std::string_view(array)};
  json.Array([&] {
    const std::string_view element = json.Peek() == JsonKind::kText ? json.Text() : json.Raw();
    out.append(out.empty() ? "" : ", ").append(element);
  });
  return out;
}

std::string FieldText(const JsonField& field) {
  if (field.kind == JsonKind::kNull) return {};
  if (field.kind == JsonKind::kObject) {
    // An error says it in words.
    const Result<JsonObject> object = JsonObject::Parse(field.text);
    if (object.has_value() && object->Find("detail") != nullptr) return Harmless(object->Text("detail"));
  }
  return Harmless(field.kind == JsonKind::kArray ? ListText(field.text) : field.text);
}

}  // namespace

std::string CellOf(const JsonObject& object, std::string_view name) {
  const JsonField* field = object.Find(name);
  return field == nullptr ? std::string() : FieldText(*field);
}

std::string TableOf(const std::vector<JsonObject>& items, const std::vector<Column>& columns) {
  Table table(std::vector<Table::Align>(columns.size(), Table::Align::kLeft));
  std::vector<std::string> headings;
  for (const Column& column : columns) headings.emplace_back(column.heading);
  table.Add(std::move(headings));
  for (const JsonObject& item : items) {
    std::vector<std::string> cells;
    for (const Column& column : columns) {
      std::string cell = CellOf(item, column.field);
      cells.push_back(cell.empty() ? "-" : std::move(cell));
    }
    table.Add(std::move(cells));
  }
  // Colours would count as columns, so the first line gets its own when all are laid out.
  const std::string lines = table.ToString();
  const size_t first = lines.find('\n');
  return Dim(lines.substr(0, first)) + lines.substr(first);
}

std::string FieldsOf(const JsonObject& object) {
  Table table({Table::Align::kLeft, Table::Align::kLeft});
  for (const JsonField& field : object.fields()) {
    const std::string text = FieldText(field);
    if (!text.empty()) table.Add({Harmless(field.name), text});
  }
  return table.ToString();
}

bool PrintedAsJson(const Arguments& arguments, const Reply& reply) {
  if (!arguments.Has("json")) return false;
  // An answer without a body is JSON all the same.
  Print((reply.body.empty() ? "{}" : reply.body) + "\n");
  return true;
}

void PrintWritten(const Arguments& arguments, BytesView key, const Reply& reply, std::string_view done) {
  std::string version = reply.Header("etag");
  std::erase(version, '"');
  if (!arguments.Has("json")) {
    Print(fmt::format("{} {}{}\n", done, ShownWord(key), Dim(", version " + Harmless(version))));
    return;
  }
  std::string out;
  JsonWriter(&out).BeginObject().BytesField("key", key).Field("version", Harmless(version)).EndObject();
  Print(out + "\n");
}

Request JsonRequest(std::string method, std::string path, std::string body) {
  return {.method = std::move(method),
          .path = std::move(path),
          .headers = {"Content-Type: application/json"},
          .body = std::move(body)};
}

Result<int> WaitForJob(Client& client, const Arguments& arguments, const std::string& id) {
  const Interruptible interruptible;
  ProgressBar progress;
  std::optional<uint64_t> before;  // what was done when the watch began
  while (true) {
    KVARTS_TRY(const Reply reply, client.Call({.path = KeyPath("/jobs/", id)}));
    KVARTS_TRY(const JsonObject job, JsonObject::Parse(reply.body));
    const std::string state = job.Text("state");
    if (state == "done" || state == "failed" || state == "cancelled") {
      progress.Clear();
      if (!PrintedAsJson(arguments, reply)) {
        const std::string error = CellOf(job, "error");
        Print(fmt::format("job {} is {}{}\n", id, state, error.empty() ? "" : ": " + error));
      }
      return state == "done" ? kExitOk : kExitFailed;
    }
    const uint64_t done = job.Uint("done").value_or(0);
    if (!before) before = done;
    progress.Update([&] {
      return ProgressState{.done = done,
                           .before = *before,
                           .total = job.Uint("total"),
                           .in_bytes = false,
                           .text = fmt::format("{} {}", Harmless(job.Text("kind")), Harmless(state))};
    });
    if (!Interruptible::Sleep(kJobPoll)) {
      return Error(ErrorCode::kUnavailable, "interrupted; the job goes on", {{"job", id}});
    }
  }
}

Result<int> FollowJob(Client& client, const Arguments& arguments, const Reply& reply) {
  KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body.empty() ? "{}" : reply.body));
  const std::string id = answer.Text("job");
  if (!id.empty() && arguments.Has("wait")) return WaitForJob(client, arguments, id);
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  Print(id.empty() ? "done\n"
                   : fmt::format("job {} does it; `kvarts job wait {}` waits for it\n", Harmless(id), Harmless(id)));
  return kExitOk;
}

}  // namespace kvarts::cli
