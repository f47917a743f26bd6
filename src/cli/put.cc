// kvarts put: writes a key, from the command line, a file or the standard input.
#include <fmt/format.h>

#include "cli/answers.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/key_words.h"
#include "encoding/json_reader.h"

namespace kvarts::cli {
namespace {

// The server has a limit of its own, which is lower; this is what we hold in memory.
constexpr size_t kMaxValueBytes = 256 << 20;

Status CheckJson(std::string_view text) {
  JsonReader json(text);
  json.Skip();
  const Status finished = json.Finish();
  if (finished.has_value()) return {};
  return Error(
      ErrorCode::kInvalidArgument, "the value of --json-value is no JSON",
      {{"cause", std::string(finished.error().text())}, {"position", std::string(finished.error().field("position"))}});
}

Status Check(const Arguments& arguments) {
  const int sources =
      (arguments.size() > 1 ? 1 : 0) + (arguments.Has("file") ? 1 : 0) + (arguments.Has("json-value") ? 1 : 0);
  if (sources != 1) {
    return Error(ErrorCode::kInvalidArgument, "the value is a VALUE, - for the standard input, --file or --json-value");
  }
  if (arguments.Has("if-absent") && arguments.Has("if-version")) {
    return Error(ErrorCode::kInvalidArgument, "--if-absent and --if-version exclude each other");
  }
  if (const auto text = arguments.Text("json-value")) KVARTS_CHECK_OK(CheckJson(*text));
  const std::string type = arguments.Text("type").value_or("");
  if (!type.empty() && (arguments.Has("json-value") || type.starts_with("application/json"))) {
    return Error(ErrorCode::kInvalidArgument, "JSON is written by --json-value, which needs no --type");
  }
  if (type.find_first_of("\r\n") != type.npos) return Error(ErrorCode::kInvalidArgument, "this is no media type");
  return CheckWords(arguments);
}

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"KEY"}, {"VALUE", true}},
       .options = Joined({{"file", OptionKind::kPath, "FILE", "the value is what is in this file"},
                          {"json-value", OptionKind::kText, "JSON", "the value is this JSON"},
                          {"type", OptionKind::kText, "TYPE", "its media type, as in image/png"},
                          {"ttl", OptionKind::kDuration, "TIME", "how long it lives: 30s, 5m, 2h, 7d", {}, 1},
                          {"if-absent", OptionKind::kFlag, {}, "only if there is nothing under the key"},
                          {"if-version", OptionKind::kCount, "V", "only if the key has this version"},
                          DurabilityOption()},
                         WordOptions()),
       .description = "Writes a value under a key and prints the version that it got. VALUE is text with\n"
                      "\\xNN for any byte, or - for the standard input, of which every byte counts. Ends\n"
                      "with 5 when --if-absent or --if-version do not hold.\n\n"
                      "  kvarts put user:1 Ada\n"
                      "  kvarts put session:7 token --ttl 30m --if-absent\n"
                      "  kvarts put photo:7 --file photo.jpg --type image/jpeg\n"
                      "  kvarts put cart:9 --json-value '{\"apples\": 3}'\n",
       .check = &Check});
}

Result<Request> RequestOf(const Arguments& arguments, const Bytes& key) {
  Request request{.method = "PUT", .path = KeyPath("/keys/", key)};
  request.headers = WriteHeaders(arguments, {"Prefer: return=minimal"});
  if (arguments.Has("if-absent")) request.headers.emplace_back("If-None-Match: *");
  if (const auto version = arguments.Text("if-version")) {
    request.headers.push_back(fmt::format("If-Match: \"{}\"", *version));
  }
  const auto ttl = arguments.Number("ttl");
  if (const auto json = arguments.Text("json-value")) {
    request.headers.emplace_back("Content-Type: application/json");
    request.body = fmt::format("{{\"value\":{}{}}}", *json, ttl ? fmt::format(",\"ttl\":{}", Seconds(*ttl)) : "");
    return request;
  }
  if (ttl) request.path.append(Query().Add("ttl", Seconds(*ttl)).text());
  request.headers.push_back("Content-Type: " + arguments.Text("type").value_or("application/octet-stream"));
  const auto file = arguments.Text("file");
  if (file || arguments.at(1) == "-") {
    KVARTS_TRY(request.body, ReadInput(file.value_or("-"), kMaxValueBytes));
  } else {
    KVARTS_TRY(request.body, DecodeWord(arguments, arguments.at(1)));
  }
  return request;
}

}  // namespace

const Syntax& PutSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunPut(const Arguments& arguments) {
  KVARTS_TRY(const Bytes key, DecodeWord(arguments, arguments.at(0)));
  KVARTS_TRY(const Request request, RequestOf(arguments, key));
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  KVARTS_TRY(const Reply reply, client->Call(request));
  PrintWritten(arguments, key, reply, "put");
  return kExitOk;
}

}  // namespace kvarts::cli
