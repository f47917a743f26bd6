// kvarts incr, append and touch: changes of what is under a key, made by the server in one step.
#include <fmt/format.h>

#include <charconv>

#include "base/units.h"
#include "cli/answers.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/key_words.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxValueBytes = 256 << 20;
constexpr std::string_view kNever = "never";

Result<int64_t> ByOf(const Arguments& arguments) {
  if (arguments.size() < 2) return 1;
  const std::string& word = arguments.at(1);
  int64_t by = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), by);
  if (problem == std::errc() && end == word.data() + word.size()) return by;
  return Error(ErrorCode::kInvalidArgument, "what is added is a whole number of 64 bits", {{"word", word}});
}

// As JSON has it: seconds, or null.
Result<std::string> LifetimeOf(const Arguments& arguments) {
  const std::string& word = arguments.at(1);
  if (word == kNever) return "null";
  const Result<Duration> ttl = ParseDuration(word);
  if (ttl.has_value() && ttl->micros > 0) return Seconds(static_cast<uint64_t>(ttl->micros));
  return Error(ErrorCode::kInvalidArgument, "a lifetime is a time such as 30s, 5m, 2h, 7d, or never", {{"word", word}});
}

Status CheckIncrement(const Arguments& arguments) {
  KVARTS_TRY([[maybe_unused]] const int64_t by, ByOf(arguments));
  return CheckKeyWord(arguments);
}

Status CheckTouch(const Arguments& arguments) {
  KVARTS_TRY([[maybe_unused]] const std::string lifetime, LifetimeOf(arguments));
  return CheckKeyWord(arguments);
}

OptionSyntax TtlOption() {
  return {"ttl", OptionKind::kDuration, "TIME", "how long it lives from now on (default: as before)", {}, 1};
}

Syntax MakeIncrementSyntax() {
  return OverApi({.arguments = {{"KEY"}, {"BY", true}},
                  .options = Joined({TtlOption(), DurabilityOption()}, WordOptions()),
                  .description = "Adds BY, or 1, to the number under a key and prints what it comes to: a counter, a\n"
                                 "JSON integer or digits. What is absent becomes a counter. BY may be negative.\n\n"
                                 "  kvarts incr visits\n"
                                 "  kvarts incr stock:7 -3\n",
                  .check = &CheckIncrement});
}

Syntax MakeAppendSyntax() {
  return OverApi({.arguments = {{"KEY"}, {"VALUE"}},
                  .options = Joined({TtlOption(), DurabilityOption()}, WordOptions()),
                  .description =
                      "Puts VALUE behind the bytes that are under a key; what is absent counts as empty. VALUE\n"
                      "is text with \\xNN for any byte, or - for the standard input.\n\n"
                      "  kvarts append log:7 'opened\\x0a'\n",
                  .check = &CheckWords});
}

Syntax MakeTouchSyntax() {
  return OverApi({.arguments = {{"KEY"}, {"TIME"}},
                  .options = Joined({DurabilityOption()}, WordOptions()),
                  .description =
                      "Changes when a key is gone, and nothing else: TIME from now, or `never`. Ends with 4\n"
                      "when there is nothing under the key.\n\n"
                      "  kvarts touch session:7 30m\n"
                      "  kvarts touch session:7 never\n",
                  .check = &CheckTouch});
}

Result<Reply> Patch(const Arguments& arguments, const Bytes& key, Bytes body, IfMissing if_missing,
                    std::string_view header) {
  Request request{.method = "PATCH", .path = KeyPath("/keys/", key), .headers = WriteHeaders(arguments)};
  request.headers.insert(request.headers.end(), {"Content-Type: application/json", std::string(header)});
  request.body = std::move(body);
  KVARTS_TRY(const auto client, Client::Open(arguments, if_missing));
  return client->Call(request);
}

// Of these only the version is told: the value may be large.
Result<int> PatchQuietly(const Arguments& arguments, Bytes body, IfMissing if_missing, std::string_view done) {
  KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
  KVARTS_TRY(const Reply reply, Patch(arguments, key, std::move(body), if_missing, "Prefer: return=minimal"));
  PrintWritten(arguments, key, reply, done);
  return kExitOk;
}

void AddTtl(const Arguments& arguments, JsonWriter& json) {
  if (const auto ttl = arguments.Number("ttl")) json.Name("ttl").Raw(Seconds(*ttl));
}

}  // namespace

const Syntax& IncrementSyntax() {
  static const Syntax kSyntax = MakeIncrementSyntax();
  return kSyntax;
}

const Syntax& AppendSyntax() {
  static const Syntax kSyntax = MakeAppendSyntax();
  return kSyntax;
}

const Syntax& TouchSyntax() {
  static const Syntax kSyntax = MakeTouchSyntax();
  return kSyntax;
}

Result<int> RunIncrement(const Arguments& arguments) {
  KVARTS_TRY(const int64_t by, ByOf(arguments));
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().Field("increment", by);
  AddTtl(arguments, json);
  json.EndObject();
  KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
  KVARTS_TRY(const Reply reply, Patch(arguments, key, std::move(body), IfMissing::kCreate, "Accept: application/json"));
  if (PrintedAsJson(arguments, reply)) return kExitOk;
  KVARTS_TRY(const JsonObject object, JsonObject::Parse(reply.body));
  Print(Harmless(object.Text("value")) + "\n");
  return kExitOk;
}

Result<int> RunAppend(const Arguments& arguments) {
  Bytes value;
  if (arguments.at(1) == "-") {
    KVARTS_TRY(value, ReadInput("-", kMaxValueBytes));
  } else {
    KVARTS_TRY(value, DecodeWord(arguments, arguments.at(1)));
  }
  std::string body;
  JsonWriter json(&body);
  json.BeginObject().BytesField("append", value);
  AddTtl(arguments, json);
  json.EndObject();
  return PatchQuietly(arguments, std::move(body), IfMissing::kCreate, "appended to");
}

Result<int> RunTouch(const Arguments& arguments) {
  KVARTS_TRY(const std::string lifetime, LifetimeOf(arguments));
  return PatchQuietly(arguments, fmt::format("{{\"ttl\":{}}}", lifetime), IfMissing::kRefuse, "touched");
}

}  // namespace kvarts::cli
