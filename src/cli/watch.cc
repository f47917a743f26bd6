// kvarts watch: a line per change, until it is told to stop. A connection that breaks is made again, and goes on where
// the last change was seen.
#include <fmt/format.h>

#include <cstdio>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/event_stream.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxEventBytes = 256 << 20;
constexpr size_t kShownValueBytes = 100;
constexpr Duration kFirstPause = Duration::Millis(200);
constexpr Duration kLongestPause = Duration::Seconds(5);

Syntax MakeSyntax() {
  return OverApi({.arguments = {{"PREFIX", true}},
                  .options = Joined({{"since", OptionKind::kText, "V", "what has changed after this version, too"},
                                     {"count", OptionKind::kCount, "N", "end after so many changes", {}, 1}},
                                    WordOptions()),
                  .description =
                      "Prints a line for each change of a key that begins with PREFIX, or of any, until\n"
                      "Ctrl-C. When the connection breaks it is made again. In a namespace with a feed no change\n"
                      "is missed then, and --since goes back; elsewhere a watch sees what happens while it is\n"
                      "there. With --json an object per line.\n\n"
                      "  kvarts watch user:\n"
                      "  kvarts watch e/ --json --since 1837845209438414848 | jq .key\n",
                  .check = &CheckWords});
}

std::string ChangeText(std::string_view op, const JsonObject& change) {
  const auto shown = [&](std::string_view name) { return ShownWord(change.BytesOf(name).value_or("")); };
  if (op == "put") {
    return fmt::format("put {} = {}", shown("key"), ShownShort(change.BytesOf("value").value_or(""), kShownValueBytes));
  }
  if (op == "delete") return fmt::format("deleted {}", shown("key"));
  if (op == "delete_range") return fmt::format("deleted from {} to {}", shown("start"), shown("end"));
  // A feed knows what an add came to, a watch by itself what was added.
  if (op == "add" && change.Find("by") == nullptr) {
    return fmt::format("added to {} = {}", shown("key"), Harmless(change.Text("value")));
  }
  if (op == "add") return fmt::format("added {} to {}", Harmless(change.Text("by")), shown("key"));
  return fmt::format("{} {}", Harmless(op), shown("key"));
}

// What the event has, with where to go on after it.
std::string ChangeJson(const StreamEvent& event, const JsonObject& change) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  if (!event.id.empty()) json.Field("id", Harmless(event.id));
  if (change.Find("op") == nullptr) json.Field("op", Harmless(event.name));
  if (change.fields().empty()) return out + "}";
  const bool first = out.ends_with('{');
  return out.append(first ? "" : ",").append(std::string_view(event.data).substr(event.data.find('{') + 1));
}

class Watcher {
 public:
  Watcher(Client& client, const Arguments& arguments, std::optional<Bytes> prefix)
      : client_(client),
        prefix_(std::move(prefix)),
        json_(arguments.Has("json")),
        left_(arguments.Number("count").value_or(UINT64_MAX)),
        since_(arguments.Text("since").value_or("")) {}

  Status Run() {
    Duration pause = kFirstPause;
    while (true) {
      const uint64_t before = left_;
      const Status streamed = StreamOnce();
      if (left_ == 0 || Interruptible::Happened()) return {};
      if (!failed_.has_value()) return failed_.error();
      if (!connected_ && !streamed.has_value()) return streamed.error();
      if (!streamed.has_value() && !MayPass(streamed.error())) KVARTS_CHECK_OK(BeginAnew(streamed.error()));
      if (left_ != before) pause = kFirstPause;
      if (!told_) PrintError("kvarts: the connection broke; trying again\n");
      told_ = true;
      if (!Interruptible::Sleep(pause)) return {};
      pause = std::min(Duration{pause.micros * 2}, kLongestPause);
    }
  }

 private:
  static bool MayPass(const Error& error) {
    return error.code() == ErrorCode::kUnavailable || error.code() == ErrorCode::kOverloaded ||
           error.code() == ErrorCode::kRateLimited;
  }

  // Where no feed keeps the changes, the server refuses to go on from the last one.
  Status BeginAnew(const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument || since_.empty()) return error;
    since_.clear();
    PrintError("kvarts: changes may have been missed: only a namespace with a feed keeps them\n");
    return {};
  }

  Status StreamOnce() {
    Query query;
    if (prefix_) query.Add("prefix", *prefix_);
    if (!since_.empty()) query.Add("since", since_);
    EventStream events(kMaxEventBytes);
    return client_.Stream(
        {.path = "/watch" + query.text(), .headers = {"Accept: text/event-stream"}}, [&](std::string_view piece) {
          connected_ = true;
          told_ = false;
          const Status fed = events.Feed(piece, [&](const StreamEvent& event) { return Take(event); });
          if (!fed.has_value()) failed_ = fed;
          if (!events.last_id().empty()) since_ = events.last_id();
          return failed_.has_value() && left_ > 0;
        });
  }

  // False after the last one that was wanted.
  bool Take(const StreamEvent& event) {
    const Result<JsonObject> change = JsonObject::Parse(event.data);
    if (!change.has_value()) {
      failed_ = change.error();
      return false;
    }
    if (event.name == "lost") {
      PrintError(fmt::format("kvarts: {}\n", Harmless(change->Text("detail"))));
      return true;
    }
    if (json_) {
      Print(ChangeJson(event, *change) + "\n");
    } else {
      const std::string about = Dim(fmt::format("  version {}", Harmless(change->Text("version"))));
      Print(fmt::format("{}{}\n", ChangeText(event.name, *change), about));
    }
    std::fflush(stdout);  // whoever reads it wants it now
    return --left_ > 0;
  }

  Client& client_;
  const std::optional<Bytes> prefix_;
  const bool json_;
  uint64_t left_;
  std::string since_;
  Status failed_;           // with what came, for good
  bool connected_ = false;  // at any time
  bool told_ = false;       // that it broke
};

}  // namespace

const Syntax& WatchSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunWatch(const Arguments& arguments) {
  std::optional<Bytes> prefix;
  if (arguments.size() > 0) {
    KVARTS_TRY(prefix, DecodeWord(arguments, arguments.at(0)));
  }
  KVARTS_TRY(const auto client, Client::Open(arguments));
  const Interruptible interruptible;
  KVARTS_CHECK_OK(Watcher(*client, arguments, std::move(prefix)).Run());
  return kExitOk;
}

}  // namespace kvarts::cli
