// kvarts scan: keys in order, page after page.
#include <fmt/format.h>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/item.h"
#include "cli/key_words.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr uint64_t kDefaultLimit = 100;
constexpr uint64_t kPage = 1000;
// How much of a key and a value a terminal gets to see.
constexpr size_t kShownKeyBytes = 60;
constexpr size_t kShownValueBytes = 60;

struct ScanRequest {
  RangeWords range;
  uint64_t limit = kDefaultLimit;
  bool reverse = false;
  bool values = true;
};

Status Check(const Arguments& arguments) {
  if (arguments.Has("all") && arguments.Has("limit")) {
    return Error(ErrorCode::kInvalidArgument, "--all and --limit exclude each other");
  }
  for (const std::string_view name : {"all", "limit", "reverse", "keys-only"}) {
    if (!arguments.Has("count") || !arguments.Has(name)) continue;
    return Error(ErrorCode::kInvalidArgument, "--count is about all keys of the range, and shows none",
                 {{"option", fmt::format("--{}", name)}});
  }
  return CheckRange(arguments);
}

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"PREFIX", true}},
       .options = Joined(
           Joined(RangeOptions(), {{"limit", OptionKind::kCount, "N", "at most so many keys (default 100)", {}, 1},
                                   {"all", OptionKind::kFlag, {}, "all of them"},
                                   {"reverse", OptionKind::kFlag, {}, "from the end"},
                                   {"keys-only", OptionKind::kFlag, {}, "without the values"},
                                   {"count",
                                    OptionKind::kChoice,
                                    "HOW",
                                    "their number instead; an estimate is there at once",
                                    {"exact", "estimate"}}}),
           WordOptions()),
       .description = "Lists keys in order with their values: all, those that begin with PREFIX, or those\n"
                      "between --start and --end. Into a pipe a line for each, the key and the value with a tab\n"
                      "between them and \\xNN for what is no text; with --json an object per line. Where the\n"
                      "default limit leaves keys out, a line on the standard error says so.\n\n"
                      "  kvarts scan user:\n"
                      "  kvarts scan --start a --end b --all --keys-only\n"
                      "  kvarts scan user: --count exact\n",
       .check = &Check});
}

std::string PathOf(const ScanRequest& request, uint64_t limit, const std::string& cursor) {
  Query query;
  query.Add(request.range).Add("limit", std::to_string(limit));
  if (request.reverse) query.Add("reverse", "true");
  if (!request.values) query.Add("values", "false");
  if (!cursor.empty()) query.Add("cursor", cursor);
  return "/keys" + query.text();
}

std::string LineOf(const Item& item, bool values) {
  if (!values) return Shown(item.key) + "\n";
  return fmt::format("{}\t{}\n", Shown(item.key), Shown(item.value.value_or("")));
}

Status PrintPage(const std::vector<std::string>& items, const ScanRequest& request, bool json) {
  Table table({Table::Align::kLeft, Table::Align::kLeft, Table::Align::kLeft});
  const bool terminal = OutputIsTerminal();
  for (const std::string& element : items) {
    if (json) {
      Print(element + "\n");
      continue;
    }
    KVARTS_TRY(const JsonObject object, JsonObject::Parse(element));
    KVARTS_TRY(const Item item, Item::Of(object));
    if (!terminal) {
      Print(LineOf(item, request.values));
      continue;
    }
    std::vector<std::string> cells = {ShownShort(item.key, kShownKeyBytes)};
    if (request.values) cells.push_back(ShownShort(item.value.value_or(""), kShownValueBytes));
    cells.push_back(Dim(item.About()));
    table.Add(std::move(cells));
  }
  Print(table.ToString());
  return {};
}

struct Count {
  uint64_t keys = 0;
  bool exact = true;
};

// A server counts so many at a time, and then says where it is.
Result<Count> CountKeys(Client& client, const RangeWords& range, const std::string& how) {
  Count count;
  std::string cursor;
  do {
    Query query;
    query.Add(range).Add("count", how);
    if (!cursor.empty()) query.Add("cursor", cursor);
    KVARTS_TRY(const Reply reply, client.Call({.path = "/keys" + query.text()}));
    KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
    count.keys += answer.Uint("count").value_or(0);
    count.exact = answer.Is("exact");
    cursor = answer.Text("cursor");
  } while (!cursor.empty());
  return count;
}

Result<int> PrintCount(const Arguments& arguments, const std::string& how) {
  KVARTS_TRY(const RangeWords range, RangeOf(arguments));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const Count count, CountKeys(*client, range, how));
  if (!arguments.Has("json")) {
    Print(fmt::format("{}\n", count.keys));
    return kExitOk;
  }
  std::string out;
  JsonWriter(&out).BeginObject().Field("count", count.keys).Field("exact", count.exact).EndObject();
  Print(out + "\n");
  return kExitOk;
}

}  // namespace

const Syntax& ScanSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunScan(const Arguments& arguments) {
  if (const auto how = arguments.Text("count")) return PrintCount(arguments, *how);
  ScanRequest request;
  KVARTS_TRY(request.range, RangeOf(arguments));
  request.limit = arguments.Has("all") ? UINT64_MAX : arguments.Number("limit").value_or(kDefaultLimit);
  request.reverse = arguments.Has("reverse");
  request.values = !arguments.Has("keys-only");
  KVARTS_TRY(const auto client, Client::Open(arguments));
  std::string cursor;
  uint64_t printed = 0;
  do {
    const uint64_t page = std::min(kPage, request.limit - printed);
    KVARTS_TRY(const Reply reply, client->Call({.path = PathOf(request, page, cursor)}));
    KVARTS_TRY(const JsonObject answer, JsonObject::Parse(reply.body));
    KVARTS_TRY(const std::vector<std::string> items, answer.Elements("items"));
    KVARTS_CHECK_OK(PrintPage(items, request, arguments.Has("json")));
    printed += items.size();
    cursor = answer.Text("cursor");
  } while (!cursor.empty() && printed < request.limit);
  if (OutputIsTerminal() && !arguments.Has("json")) Print(Dim(Counted(printed, "key", "keys")) + "\n");
  // Who gave no limit may take what came for all there is, a program behind a pipe above all.
  if (!cursor.empty() && !arguments.Has("limit")) {
    PrintError(fmt::format("kvarts: these are the first {}, and there are more: --limit N or --all\n",
                           Counted(printed, "key", "keys")));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
