// kvarts check: reads back everything in a store and says what is wrong with it. It never repairs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/command.h"
#include "cli/error_text.h"
#include "cli/keyspace_check.h"
#include "cli/place.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "core/keyspace.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

std::string SpaceNote(const SpaceCount& count) {
  std::string note = fmt::format("{} in {}", HumanBytes(count.bytes), Counted(count.entries, "entry", "entries"));
  if (count.expired > 0) note.append(fmt::format(", {} expired and still stored", HumanCount(count.expired)));
  if (count.stale > 0) note.append(fmt::format(", {} stale", HumanCount(count.stale)));
  return note;
}

// What a check tells: lines as they come, or one object in the end.
class Report {
 public:
  Report(const Place& place, bool as_json) : as_json_(as_json) {
    json_.BeginObject().BytesField("path", place.ToString());
    if (place.IsDirectory()) json_.Field("format", kFormatVersion);
    spaces_.BeginArray();
    findings_.BeginArray();
    Line(fmt::format("Checking {}{}\n", place.ToString(),
                     place.IsDirectory() ? fmt::format(", format {}", kFormatVersion) : ""));
  }

  void Files(uint64_t tables, uint64_t bytes) {
    json_.Name("files").BeginObject().Field("tables", tables).Field("bytes", bytes).EndObject();
    Line(fmt::format("  files     {} and the log, {}: every checksum and header is right\n",
                     Counted(tables, "table", "tables"), HumanBytes(bytes)));
  }
  void Space(std::string_view name, const SpaceCount& count) {
    spaces_.BeginObject().Field("space", name).Field("entries", count.entries).Field("bytes", count.bytes);
    spaces_.Field("expired", count.expired).Field("stale", count.stale).EndObject();
    Line(fmt::format("  {:<9} {}\n", name, SpaceNote(count)));
  }
  void Finding(std::string_view where, std::string_view text) {
    findings_.BeginObject().BytesField("where", where).BytesField("detail", text).EndObject();
    Line(fmt::format("{} {}: {}\n", Red("found:"), where, text));
  }
  // For people, who would count the lines; the object has the number.
  void Line(std::string_view text) const {
    if (!as_json_) Print(text);
  }
  void End(uint64_t found, Duration took) {
    spaces_.EndArray();
    findings_.EndArray();
    json_.Name("spaces").Raw(spaces_text_).Field("found", found).Name("findings").Raw(findings_text_).EndObject();
    const std::string verdict = found == 0 ? "ok" : Counted(found, "finding", "findings");
    Line(fmt::format("{}, in {}\n", verdict, HumanDuration(took)));
    if (as_json_) Print(json_text_ + "\n");
  }

 private:
  const bool as_json_;
  std::string json_text_;
  std::string spaces_text_;
  std::string findings_text_;
  JsonWriter json_{&json_text_};
  JsonWriter spaces_{&spaces_text_};
  JsonWriter findings_{&findings_text_};
};

// How many things are wrong with the files.
Result<uint64_t> CheckFiles(Engine& engine, Report& report) {
  Progress progress;
  progress.Show("reading every block of every file …");
  const std::vector<Error> found = engine.VerifyFiles();
  progress.Clear();
  KVARTS_TRY(const EngineStats stats, engine.Stats());
  uint64_t files = 0;
  uint64_t bytes = stats.log_bytes;
  for (const LevelStats& level : stats.levels) {
    files += level.files;
    bytes += level.bytes;
  }
  for (const Error& error : found) {
    const Result<Bytes> key = ParseEscaped(error.field("key"));
    report.Finding(key.has_value() && !key->empty() ? DescribeKey(*key) : "files", ErrorText(error));
  }
  if (found.size() == Engine::kMaxFoundInFiles) report.Line("and perhaps more\n");
  if (!found.empty()) return found.size();
  report.Files(files, bytes);
  return 0;
}

// How many things are wrong with the keyspace.
Result<uint64_t> CheckKeyspace(Engine& engine, bool files_are_good, Report& report) {
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  // Other processes may have written since this one last heard of it.
  KeyspaceCheck check(*view, std::max(engine.LastVersion(), view->version()));
  Progress progress;
  const Status walked = check.Run([&](uint64_t entries) {
    if (progress.Due()) progress.Show(fmt::format("{} checked …", Counted(entries, "entry", "entries")));
  });
  progress.Clear();
  for (const auto& [space, count] : check.counts()) report.Space(SpaceName(space), count);
  for (const Finding& finding : check.findings()) report.Finding(finding.key, finding.text);
  if (check.found() > check.findings().size()) {
    report.Line(fmt::format("and {} more\n", HumanCount(check.found() - check.findings().size())));
  }
  if (walked.has_value()) return check.found();
  // Damage to a file has been counted there.
  report.Finding(fmt::format("after {}", Counted(check.entries(), "entry", "entries")), ErrorText(walked.error()));
  return check.found() + (files_are_good ? 1 : 0);
}

}  // namespace

const Syntax& CheckSyntax() {
  static const Syntax kSyntax = {
      .arguments = {{"DIR", true}},
      .options = {{"json", OptionKind::kFlag, {}, "one JSON object instead of lines"}, ShardsOption()},
      .description =
          "Reads back every file of a data directory and holds it against its checksums,\n"
          "then walks all stored entries: every key decodes, every value is what its part\n"
          "of the keyspace says, every version was issued, every owned value is in its\n"
          "index and every job in its queue. Prints what was checked and each finding\n"
          "with its file or key. Ends with 0 if all is well, with 3 if something was found,\n"
          "with 1 if the directory is missing or in use. Nothing is repaired; opening the\n"
          "store moves what is in its log into data files, as every start does. With\n"
          "--shards the entries are walked, as of one moment and beside running servers;\n"
          "the files are PostgreSQL's, whose pg_amcheck and checksums are for them.\n",
      .check = &CheckPlace};
  return kSyntax;
}

Result<int> RunCheck(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const Place place = PlaceOf(arguments);
  const Result<std::unique_ptr<Engine>> engine = OpenPlace(place);
  const bool damaged = !engine.has_value() && engine.error().code() == ErrorCode::kCorruption;
  if (!engine.has_value() && !damaged) return engine.error();
  Report report(place, arguments.Has("json"));
  uint64_t found = 0;
  if (damaged) {
    report.Finding("the store cannot be opened", ErrorText(engine.error()));
    found = 1;
  } else {
    uint64_t in_files = 0;
    if (place.IsDirectory()) {
      KVARTS_TRY(in_files, CheckFiles(**engine, report));
    }
    KVARTS_TRY(const uint64_t in_keyspace, CheckKeyspace(**engine, in_files == 0, report));
    found = in_files + in_keyspace;
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  report.End(found, {took.count()});
  return found == 0 ? kExitOk : kExitFound;
}

}  // namespace kvarts::cli
