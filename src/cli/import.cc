// kvarts import: lines of JSON, as export writes them, become keys again.
//
// Lines are committed in batches, one after the other and in their order, so that what fails can be continued from the
// first line of its batch: writing a line twice does no harm.
#include <fmt/format.h>

#include "base/error_fields.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/import_line.h"
#include "cli/input.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/progress_bar.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

// The largest value with every byte escaped, and its key.
constexpr size_t kMaxLineBytes = 128 << 20;
constexpr size_t kMaxBatchBytes = 1 << 20;
constexpr uint64_t kMaxBatchItems = 1000;
constexpr int kMaxTries = 8;
constexpr Duration kFirstPause = Duration::Millis(100);

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"FILE", true}},
       .options = {{"from-line", OptionKind::kCount, "N", "go on at this line, after an import that failed", {}, 1},
                   {"batch", OptionKind::kCount, "N", "keys per commit (default 1000)", {}, 1},
                   DurabilityOption()},
       .description = "Writes the keys of an export, from FILE or the standard input: lines of JSON with a key\n"
                      "or key_base64, a value or value_base64, and perhaps an expiry or a ttl. Keys that are there\n"
                      "are replaced, others stay. An expiry that has passed is not written. When a line fails,\n"
                      "the lines before it are written, and --from-line goes on from there. Lines with a version\n"
                      "are taken for an export's: if its last line is missing, or counts other lines, what there\n"
                      "is gets written, and the import ends with 1.\n\n"
                      "  kvarts export user: > users.ndjson\n"
                      "  kvarts import users.ndjson --data ./copy\n"});
}

struct ImportCounts {
  uint64_t written = 0;
  uint64_t expired = 0;
};

class Importer {
 public:
  Importer(Client& client, LineInput& lines, const Arguments& arguments)
      : client_(client),
        lines_(lines),
        headers_(WriteHeaders(arguments)),
        max_items_(std::min(arguments.Number("batch").value_or(kMaxBatchItems), kMaxBatchItems * 10)),
        from_line_(arguments.Number("from-line").value_or(1)),
        json_(arguments.Has("json")) {}

  Result<ImportCounts> Run() {
    const Status done = TakeLines();
    progress_.Clear();
    if (done.has_value()) return counts_;
    if (json_) return Counting(done.error());
    const std::string advice = cut_off_ ? "they stay, and the rest needs a whole export"
                                        : fmt::format("--from-line {} goes on where this one stopped", batch_line_);
    PrintError(fmt::format("kvarts: {} written; {}\n", Counted(counts_.written, "key was", "keys were"), advice));
    return done.error();
  }
  Duration Elapsed() const { return progress_.Elapsed(); }

 private:
  Status TakeLines() {
    while (true) {
      KVARTS_TRY(const std::optional<Bytes> line, lines_.Next());
      if (!line) {
        KVARTS_CHECK_OK(Flush());
        if (in_export_) return CutOff("the export is not whole: its last line, {\"end\":true}, is missing", {});
        return {};
      }
      if (lines_.number() < from_line_) continue;
      if (items_ == 0) batch_line_ = lines_.number();
      Result<ImportLine> parsed = ParseImportLine(*line, clock_.Now());
      if (!parsed.has_value()) {
        KVARTS_CHECK_OK(Flush());
        batch_line_ = lines_.number();
        return AtLine(batch_line_, parsed.error());
      }
      KVARTS_CHECK_OK(Take(*std::move(parsed)));
      progress_.Update([&] {
        return ProgressState{
            .done = lines_.bytes_read(), .total = lines_.size(), .text = Counted(counts_.written, "key", "keys")};
      });
    }
  }

  // The error with what people are told beside it.
  Error Counting(const Error& error) const {
    std::vector<Error::Field> fields = error.fields();
    fields.emplace_back("written", std::to_string(counts_.written));
    if (!cut_off_) fields.emplace_back("from_line", std::to_string(batch_line_));
    return MakeError(error.code(), error.text().data(), fields);
  }

  // What is missing is not in the input: going on at a line of it would not help.
  Error CutOff(const char* text, std::vector<Error::Field> counts) {
    cut_off_ = true;
    std::vector<Error::Field> fields = {{"line", std::to_string(lines_.number())}};
    fields.insert(fields.end(), counts.begin(), counts.end());
    return MakeError(ErrorCode::kInvalidArgument, text, fields);
  }

  Status TakeEnd(uint64_t count) {
    KVARTS_CHECK_OK(Flush());
    // Who began at a later line has not seen all.
    if (from_line_ == 1 && count != seen_) {
      return CutOff("the export is not whole: its last line counts other lines",
                    {{"counts", std::to_string(count)}, {"seen", std::to_string(seen_)}});
    }
    seen_ = 0;
    in_export_ = false;
    return {};
  }

  Status Take(ImportLine line) {
    in_export_ = in_export_ || line.exported;
    switch (line.kind) {
      case ImportLine::Kind::kBlank:
        return {};
      case ImportLine::Kind::kExpired:
        ++seen_;
        ++counts_.expired;
        return {};
      case ImportLine::Kind::kEnd:
        return TakeEnd(line.count);
      case ImportLine::Kind::kItem:
        break;
    }
    ++seen_;
    // A line that is large by itself is not held back by others.
    if (items_ > 0 && body_.size() + line.mutation.size() > kMaxBatchBytes) {
      KVARTS_CHECK_OK(Flush());
      batch_line_ = lines_.number();
    }
    body_.append(items_ == 0 ? "{\"mutations\":[" : ",").append(line.mutation);
    if (++items_ >= max_items_) return Flush();
    return {};
  }

  Status Flush() {
    if (items_ == 0) return {};
    body_.append("]}");
    Request request{.method = "POST", .path = "/commit", .headers = headers_, .body = std::move(body_)};
    request.headers.emplace_back("Content-Type: application/json");
    KVARTS_CHECK_OK(Send(request));
    counts_.written += items_;
    items_ = 0;
    body_.clear();
    batch_line_ = lines_.number() + 1;
    return {};
  }

  // A server that is busy is asked again.
  Status Send(const Request& request) {
    Duration pause = kFirstPause;
    for (int tries = 1;; ++tries) {
      const Result<Reply> reply = client_.Call(request);
      if (reply.has_value()) return {};
      const ErrorCode code = reply.error().code();
      const bool busy =
          code == ErrorCode::kOverloaded || code == ErrorCode::kRateLimited || code == ErrorCode::kConflict;
      if (!busy || tries == kMaxTries || !Interruptible::Sleep(pause)) return AtLine(batch_line_, reply.error());
      pause.micros *= 2;
    }
  }

  // The error of a line, or of the batch that begins there.
  static Error AtLine(uint64_t line, const Error& error) { return WithField(error, "line", std::to_string(line)); }

  Client& client_;
  LineInput& lines_;
  const std::vector<std::string> headers_;
  const uint64_t max_items_;
  const uint64_t from_line_;
  const bool json_;
  const SystemClock clock_;
  ProgressBar progress_;
  ImportCounts counts_;
  std::string body_;
  uint64_t items_ = 0;       // of the body
  uint64_t batch_line_ = 1;  // where they begin
  uint64_t seen_ = 0;        // items since the beginning, or since the last end
  bool in_export_ = false;   // so that an end is to come
  bool cut_off_ = false;
};

}  // namespace

const Syntax& ImportSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunImport(const Arguments& arguments) {
  KVARTS_TRY(const auto lines, LineInput::Open(arguments.size() > 0 ? arguments.at(0) : "-", kMaxLineBytes));
  KVARTS_TRY(const auto client, Client::Open(arguments, IfMissing::kCreate));
  Importer importer(*client, *lines, arguments);
  KVARTS_TRY(const ImportCounts counts, importer.Run());
  if (arguments.Has("json")) {
    std::string out;
    JsonWriter(&out).BeginObject().Field("written", counts.written).Field("expired", counts.expired).EndObject();
    Print(out + "\n");
    return kExitOk;
  }
  Print(fmt::format("imported {} in {}{}\n", Counted(counts.written, "key", "keys"), HumanDuration(importer.Elapsed()),
                    counts.expired == 0 ? "" : fmt::format("; {} had expired", HumanCount(counts.expired))));
  return kExitOk;
}

}  // namespace kvarts::cli
