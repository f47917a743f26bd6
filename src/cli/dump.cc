// kvarts dump: every stored key, decoded, with what its header says.
#include <fmt/format.h>

#include <limits>

#include "api/convert.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/place.h"
#include "cli/spaces.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "core/keyspace.h"
#include "core/secret.h"
#include "encoding/json_writer.h"
#include "encoding/tuple_text.h"

namespace kvarts::cli {
namespace {

// How much of a value is printed.
constexpr size_t kValueBytes = 120;
constexpr size_t kJsonValueBytes = 1 << 10;
constexpr size_t kPageEntries = 1000;

struct DumpRequest {
  KeyRange range;
  uint64_t limit = std::numeric_limits<uint64_t>::max();
  bool values = false;
  bool json = false;
};

Status CheckOptions(const Arguments& arguments) {
  KVARTS_CHECK_OK(CheckPlace(arguments));
  const std::string space = arguments.Text("space").value_or("keys");
  if (!arguments.Has("prefix") || space == SpaceName(Space::kKeys)) return {};
  return Error(ErrorCode::kInvalidArgument, "--prefix is about users' keys, which are in the space keys",
               {{"space", space}});
}

DumpRequest RequestOf(const Arguments& arguments) {
  DumpRequest request;
  if (const auto prefix = arguments.Text("prefix")) {
    request.range = UserRange(KeyRange::Prefix(*prefix));
  } else if (const auto space = arguments.Text("space")) {
    request.range = SpaceRange(*ParseSpace(*space));
  }
  request.limit = arguments.Number("limit").value_or(request.limit);
  request.values = arguments.Has("values");
  request.json = arguments.Has("json");
  return request;
}

// A value as it may be shown.
std::string ShownValue(const ScanPage::Entry& entry) {
  return IsSecret(entry.key) ? "(secret)" : ValueText(entry.header, entry.value);
}

std::string TextLine(const ScanPage::Entry& entry, bool values) {
  const std::string expiry = entry.header.expiry == kNever ? "-" : HumanTime(entry.header.expiry);
  std::string line =
      fmt::format("{:<19}  {:<23}  {:<8}  {:>9}  {}", entry.header.version.ToString(), expiry,
                  ValueKindName(entry.header.kind), HumanBytes(entry.value.size()), DescribeKey(entry.key));
  line.append(MarksText(entry.header.marks));
  if (values) line.append(" = ").append(ShownShort(ShownValue(entry), kValueBytes));
  return line;
}

// Bytes as JSON text if they are text, else as hex under another name.
void AppendBytes(JsonWriter* json, const std::string& name, BytesView bytes) {
  if (IsUtf8(bytes)) {
    json->Field(name, bytes);
  } else {
    json->Field(name + "_hex", ToHex(bytes));
  }
}

std::string JsonLine(const ScanPage::Entry& entry, bool values) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject();
  const auto space = SpaceOf(entry.key);
  json.Field("space", space ? SpaceName(*space) : "unknown");
  if (const auto user_key = UserKeyOf(entry.key)) {
    AppendBytes(&json, "key", *user_key);
  } else {
    json.Field("key", TupleToString(entry.key));
  }
  json.Field("version", entry.header.version.ToString());
  json.Name("expiry");
  if (entry.header.expiry == kNever) {
    json.Null();
  } else {
    json.Text(entry.header.expiry.ToString());
  }
  json.Field("kind", ValueKindName(entry.header.kind)).Field("owned", entry.header.owned);
  if (entry.header.marks.saturated) json.Field("saturated", true);
  if (entry.header.marks.misapplied) json.Field("misapplied", true);
  json.Field("schema", entry.header.schema).Field("size", entry.value.size());
  if (values) {
    const std::string value = ShownValue(entry);
    // Cut text may end in half a character; the rule then makes it hex.
    AppendBytes(&json, "value", BytesView(value).substr(0, kJsonValueBytes));
    if (value.size() > kJsonValueBytes) json.Field("shortened", true);
  }
  json.EndObject();
  return line;
}

Result<uint64_t> DumpRange(View& view, const DumpRequest& request) {
  uint64_t printed = 0;
  std::optional<KeyRange> rest = request.range;
  while (rest && printed < request.limit) {
    ScanRequest scan;
    scan.range = *rest;
    scan.max_entries = std::min<uint64_t>(kPageEntries, request.limit - printed);
    KVARTS_TRY(const ScanPage page, view.Scan(scan));
    for (size_t i = 0; i < page.size(); ++i) {
      const std::string line = request.json ? JsonLine(page[i], request.values) : TextLine(page[i], request.values);
      Print(line + "\n");
    }
    printed += page.size();
    rest = page.rest();
  }
  return printed;
}

}  // namespace

const Syntax& DumpSyntax() {
  static const Syntax kSyntax = {
      .arguments = {{"DIR", true}},
      .options =
          {
              {"prefix", OptionKind::kBytes, "P", "only users' keys that begin with P (\\xNN is any byte)"},
              {"space", OptionKind::kChoice, "NAME", "only this part of the keyspace", SpaceNames()},
              {"limit", OptionKind::kCount, "N", "at most so many"},
              {"values", OptionKind::kFlag, {}, "the values too, long ones cut off"},
              {"json", OptionKind::kFlag, {}, "a JSON object per line"},
              ShardsOption(),
          },
      .description =
          "Prints every stored key with its version, expiry, kind and size, in key order,\n"
          "all at one state of the store. Keys that users put are in the space `keys`;\n"
          "the other spaces are what Kvarts keeps beside them. With --shards that may be\n"
          "while servers are running.\n",
      .check = &CheckOptions};
  return kSyntax;
}

Result<int> RunDump(const Arguments& arguments) {
  const DumpRequest request = RequestOf(arguments);
  KVARTS_TRY(const std::unique_ptr<Engine> engine, OpenPlace(PlaceOf(arguments)));
  KVARTS_TRY(const std::unique_ptr<View> view, engine->OpenView());
  if (!request.json) {
    Print(Dim(fmt::format("{:<19}  {:<23}  {:<8}  {:>9}  {}", "version", "expiry", "kind", "size", "key")) + "\n");
  }
  KVARTS_TRY(const uint64_t printed, DumpRange(*view, request));
  if (!request.json) Print(Dim(Counted(printed, "key", "keys")) + "\n");
  return kExitOk;
}

}  // namespace kvarts::cli
