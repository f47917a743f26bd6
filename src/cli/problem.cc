#include "cli/problem.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error_fields.h"
#include "cli/json_object.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

constexpr std::string_view kPrefix = "urn:kvarts:";
constexpr size_t kMaxTextBytes = 1 << 10;
// Of what came with an answer, what is told to people.
constexpr size_t kMaxToldFields = 8;
constexpr size_t kMaxProblemBytes = 64 << 10;
// Beyond so many, texts are no longer told apart.
constexpr size_t kMaxKnownTexts = 10'000;

// Texts and names of errors are constants. Those that come from a server become such when they are first seen.
const char* Constant(std::string_view text) {
  static std::mutex mutex;
  static auto* const known = new std::set<std::string, std::less<>>;
  const std::string harmless = Harmless(text.substr(0, kMaxTextBytes));
  const std::lock_guard lock(mutex);
  const auto found = known->find(harmless);
  if (found != known->end()) return found->c_str();
  if (known->size() >= kMaxKnownTexts) return "the server refused";
  return known->insert(harmless).first->c_str();
}

ErrorCode CodeOfStatus(int status) {
  switch (status) {
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kPermissionDenied;
    case 409:
      return ErrorCode::kConflict;
    case 412:
      return ErrorCode::kPreconditionFailed;
    case 413:
    case 414:
    case 431:
      return ErrorCode::kTooLarge;
    case 429:
      return ErrorCode::kRateLimited;
    case 408:
    case 503:
      return ErrorCode::kOverloaded;
    case 502:
    case 504:
      return ErrorCode::kUnavailable;
    default:
      // 404 among them: of a key it comes with our own code, so what is missing here is the route.
      return status >= 500 ? ErrorCode::kInternal : ErrorCode::kInvalidArgument;
  }
}

std::optional<ErrorCode> CodeOfType(std::string_view type) {
  if (!type.starts_with(kPrefix)) return std::nullopt;
  type.remove_prefix(kPrefix.size());
  for (int number = 0; number <= static_cast<int>(ErrorCode::kInternal); ++number) {
    if (ErrorCodeName(static_cast<ErrorCode>(number)) == type) return static_cast<ErrorCode>(number);
  }
  return std::nullopt;
}

std::vector<Error::Field> FieldsOf(const JsonObject& problem) {
  constexpr std::array<std::string_view, 5> kStandard = {"type", "title", "status", "detail", "instance"};
  std::vector<Error::Field> fields;
  for (const JsonField& field : problem.fields()) {
    if (std::ranges::find(kStandard, field.name) != kStandard.end() || fields.size() == kMaxToldFields) continue;
    // A version that is null is that of nothing.
    const std::string_view text = field.kind == JsonKind::kNull ? std::string_view("absent") : field.text;
    fields.emplace_back(Constant(field.name), Harmless(text.substr(0, kMaxTextBytes)));
  }
  return fields;
}

}  // namespace

Error ErrorOfAnswer(int status, std::string_view body) {
  const Result<JsonObject> problem = JsonObject::Parse(body);
  const std::string type = problem.has_value() ? problem->Text("type") : "";
  if (!type.starts_with(kPrefix)) {
    return Error(CodeOfStatus(status), "the answer is an error, and not one of a Kvarts server",
                 {{"status", std::to_string(status)}});
  }
  if (type == "urn:kvarts:no_such_route") {
    return Error(ErrorCode::kInvalidArgument,
                 "the server does not know this request; it may be older than this program");
  }
  std::string text = problem->Text("detail");
  if (text.empty()) text = problem->Text("title");
  std::vector<Error::Field> fields = FieldsOf(*problem);
  if (body.size() <= kMaxProblemBytes) fields.emplace_back(kSentProblem, body);
  return MakeError(CodeOfType(type).value_or(CodeOfStatus(status)), Constant(text.empty() ? type : text), fields);
}

std::string ProblemJson(const Error& error) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  const Result<JsonObject> sent = JsonObject::Parse(error.field(kSentProblem));
  if (sent.has_value()) {
    for (const JsonField& field : sent->fields()) {
      if (field.kind == JsonKind::kText) {
        json.BytesField(field.name, field.text);
      } else {
        json.Name(field.name).Raw(field.text);
      }
    }
  } else {
    json.Field("type", std::string(kPrefix).append(ErrorCodeName(error.code()))).Field("detail", error.text());
  }
  for (const auto& [name, value] : error.fields()) {
    // To an error, an empty field is one that it has not.
    const bool written = name == kSentProblem || value.empty() || (sent.has_value() && sent->Find(name) != nullptr);
    if (!written) json.BytesField(name, value);
  }
  json.EndObject();
  return out;
}

}  // namespace kvarts::cli
