// kvarts export: all keys of a range as lines of JSON, of which the last one says that it is whole.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "cli/client.h"
#include "cli/command.h"
#include "cli/json_object.h"
#include "cli/key_words.h"
#include "cli/progress_bar.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr std::string_view kEndLine = "{\"end\":true";

Syntax MakeSyntax() {
  return OverApi(
      {.arguments = {{"PREFIX", true}},
       .options = Joined(
           Joined(RangeOptions(), {{"file", OptionKind::kPath, "FILE", "write it there, and only when it is whole"},
                                   {"keys-only", OptionKind::kFlag, {}, "without the values"}}),
           WordOptions()),
       .description = "Prints every key, or those that begin with PREFIX, with value, version and expiry as\n"
                      "lines of JSON that `kvarts import` reads. The last line has \"end\" and the number of\n"
                      "keys: without it the export is not whole, and this command fails.\n\n"
                      "  kvarts export --file all.ndjson\n"
                      "  kvarts export user: --data ./data | gzip > users.ndjson.gz\n",
       .check = &CheckRange});
}

// Where the lines go: the standard output, or a file that has its name only once it is whole.
class Output {
 public:
  static Result<std::unique_ptr<Output>> Open(const std::optional<std::string>& path) {
    std::unique_ptr<Output> output(new Output);
    if (!path || *path == "-") return output;
    output->path_ = *path;
    output->file_ = std::fopen(output->Partial().c_str(), "wbe");
    if (output->file_ == nullptr) return output->Failed();
    return output;
  }
  ~Output() {
    if (path_.empty() || file_ == nullptr) return;
    std::fclose(file_);
    std::remove(Partial().c_str());
  }

  bool Write(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file_) == text.size(); }

  Status Finish() {
    if (path_.empty()) return {};  // which the end of the program looks after
    if (std::fclose(std::exchange(file_, nullptr)) != 0 || std::rename(Partial().c_str(), path_.c_str()) != 0) {
      const Error error = Failed();
      std::remove(Partial().c_str());
      return error;
    }
    return {};
  }

  Error Failed() const {
    return Error(ErrorCode::kUnavailable, "the output cannot be written",
                 {{"path", path_.empty() ? "standard output" : path_}, {"cause", std::strerror(errno)}});
  }

 private:
  Output() = default;
  std::string Partial() const { return path_ + ".partial"; }

  std::string path_;
  std::FILE* file_ = stdout;
};

// Counts what comes by, and keeps the last line.
class Exporter {
 public:
  explicit Exporter(Output& output) : output_(output) {}

  bool Take(std::string_view piece) {
    bytes_ += piece.size();
    keys_ += static_cast<uint64_t>(std::ranges::count(piece, '\n'));
    // The last line is short; of all others this holds no more than what has come since the line before.
    const size_t last = piece.find_last_of('\n', piece.empty() ? 0 : piece.size() - 2);
    if (piece.size() > 1 && last != piece.npos) {
      tail_ = piece.substr(last + 1);
    } else {
      tail_ = tail_.ends_with('\n') ? std::string(piece) : tail_.append(piece);
    }
    if (tail_.size() > kMaxTail) tail_.erase(0, tail_.size() - kMaxTail);
    progress_.Update([&] {
      return ProgressState{.done = bytes_,
                           .text = fmt::format("{}  {}", Counted(keys_, "key", "keys"), HumanBytes(bytes_))};
    });
    if (output_.Write(piece)) return true;
    failed_ = output_.Failed();
    return false;
  }

  // The number of keys, once all has come.
  Result<uint64_t> Finish() {
    progress_.Clear();
    KVARTS_CHECK_OK(failed_);
    if (!tail_.starts_with(kEndLine) || !tail_.ends_with('\n')) return NotWhole();
    KVARTS_TRY(const JsonObject end, JsonObject::Parse(std::string_view(tail_).substr(0, tail_.size() - 1)));
    const auto count = end.Uint("count");
    if (!count || *count + 1 != keys_) return NotWhole();
    KVARTS_CHECK_OK(output_.Finish());
    return *count;
  }
  const Status& failed() const { return failed_; }
  Duration Elapsed() const { return progress_.Elapsed(); }
  uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kMaxTail = 64 << 10;

  Error NotWhole() const {
    return Error(ErrorCode::kUnavailable, "the export is not whole: its last line is missing",
                 {{"lines", std::to_string(keys_)}});
  }

  Output& output_;
  ProgressBar progress_;
  Status failed_;
  uint64_t bytes_ = 0;
  uint64_t keys_ = 0;  // lines, and so one more in the end
  std::string tail_;   // the last line so far
};

}  // namespace

const Syntax& ExportSyntax() {
  static const Syntax kSyntax = MakeSyntax();
  return kSyntax;
}

Result<int> RunExport(const Arguments& arguments) {
  KVARTS_TRY(const RangeWords range, RangeOf(arguments));
  KVARTS_TRY(const auto client, Client::Open(arguments));
  KVARTS_TRY(const auto output, Output::Open(arguments.Text("file")));
  Query query;
  query.Add(range);
  if (arguments.Has("keys-only")) query.Add("values", "false");
  Exporter exporter(*output);
  const Status streamed = client->Stream({.path = "/keys" + query.text(), .headers = {"Accept: application/x-ndjson"}},
                                         [&](std::string_view piece) { return exporter.Take(piece); });
  if (!streamed.has_value() && exporter.failed().has_value()) return streamed.error();
  KVARTS_TRY(const uint64_t count, exporter.Finish());
  if (arguments.Has("file")) {
    const std::string size = HumanBytes(exporter.bytes());
    PrintError(
        fmt::format("exported {}, {} in {}\n", Counted(count, "key", "keys"), size, HumanDuration(exporter.Elapsed())));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
