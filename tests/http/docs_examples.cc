#include "http/docs_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>

#include "support/files.h"
#include "support/json_value.h"
#include "support/programs.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

constexpr std::string_view kSign = "→";
constexpr std::string_view kStatement = "# → ";
constexpr std::string_view kContinuation = "#   ";
constexpr std::string_view kAnything = "…";

// curl as the examples mean it, which also leaves in a folder for each request what it was and what it was answered.
constexpr std::string_view kCurl = R"sh(set -eu
curl() {
  local code=0 to="$ANSWERS/$(printf %06d "$(ls "$ANSWERS" | wc -l)")"
  mkdir "$to"
  echo "${BASH_LINENO[0]}" > "$to/line"
  echo "curl $*" > "$to/command"
  command curl -sS --max-time 60 -o "$to/body" -w '%{http_code}' "$@" > "$to/status" || code=$?
  if [ -e "$to/body" ]; then cat "$to/body"; fi
  return "$code"
}
)sh";

struct Statement {
  size_t line = 0;
  std::string text = {};
};

// The commands of a page, in the lines in which they stand there, and what it states of their answers.
struct Page {
  std::string script = {};
  std::vector<Statement> statements = {};
  std::vector<std::string> faults = {};
};

struct Request {
  size_t line = 0;  // in which its command begins
  std::string command = {};
  int status = 0;
  std::string body = {};
  bool stated = false;
};

std::string WithoutLineEnd(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// A line of a block of commands.
void AddCommandLine(std::string_view text, size_t line, Page* page) {
  const size_t at = text.find(kStatement);
  if (at != std::string_view::npos) {
    page->statements.push_back({line, std::string(text.substr(at + kStatement.size()))});
  } else if (text.find(kSign) != std::string_view::npos) {
    page->faults.push_back(fmt::format("line {}: an answer is stated behind \"{}\": {}", line, kStatement, text));
  } else if (text.starts_with(kContinuation) && !page->statements.empty() && page->statements.back().line == line - 1) {
    page->statements.back().text += text.substr(kContinuation.size());
    page->statements.back().line = line;
  }
}

Page ReadPage(std::string_view text, const std::string& address) {
  constexpr std::string_view kFence = "```";
  constexpr std::string_view kServer = "localhost:7700";
  Page page;
  bool in_block = false;
  bool in_commands = false;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string content(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.starts_with(kFence)) {
      in_commands = !in_block && content == kFence;
      in_block = !in_block;
    } else if (in_commands) {
      AddCommandLine(content, line, &page);
      for (size_t at = 0; (at = content.find(kServer, at)) != std::string::npos; at += address.size()) {
        content.replace(at, kServer.size(), address);
      }
      page.script += content;
    }
    page.script += '\n';
  }
  if (in_block) page.faults.emplace_back("the last code block has no end");
  return page;
}

std::vector<Request> RunScript(const std::string& script, std::vector<std::string>* faults) {
  const TempDir files;
  std::filesystem::create_directory(files / "answers");
  WriteBytes(files / "curl.sh", kCurl);
  WriteBytes(files / "page.sh", script);
  const ProgramRun run = RunProgram({"env", "ANSWERS=" + (files / "answers"), "timeout", "120", "bash", "-c",
                                     ". \"$0\"; . \"$1\"", files / "curl.sh", files / "page.sh"});
  if (run.code != 0) faults->push_back(fmt::format("the commands ended with {}: {}", run.code, run.err));

  std::vector<Request> requests;
  for (size_t i = 0;; ++i) {
    const std::string folder = files / fmt::format("answers/{:06}", i);
    if (!std::filesystem::exists(folder)) return requests;
    const std::string status = ReadBytes(folder + "/status");
    requests.push_back({.line = std::stoul(ReadBytes(folder + "/line")),
                        .command = WithoutLineEnd(ReadBytes(folder + "/command")),
                        .status = status.empty() ? 0 : std::stoi(status),
                        .body = WithoutLineEnd(ReadBytes(folder + "/body"))});
  }
}

bool IsText(const JsonValue& value) { return value.raw().starts_with('"'); }
bool IsObject(const JsonValue& value) { return value.raw().starts_with('{'); }
bool IsList(const JsonValue& value) { return value.raw().starts_with('['); }

bool Covers(const JsonValue& answer, const JsonValue& stated) {
  if (IsText(stated)) {
    return stated.text() == kAnything ? !answer.is_null() : IsText(answer) && answer.text() == stated.text();
  }
  if (IsObject(stated)) {
    return IsObject(answer) && std::ranges::all_of(stated.fields(), [&](const auto& field) {
             return Covers(answer[field.first], field.second);
           });
  }
  if (IsList(stated)) {
    return IsList(answer) && std::ranges::equal(answer.elements(), stated.elements(), Covers);
  }
  return answer.raw() == stated.raw();
}

// What a statement says.
struct Expected {
  std::optional<int> status = {};
  std::optional<JsonValue> body = {};
};

// Throws when it says nothing.
Expected ReadStatement(std::string_view text) {
  Expected expected;
  if (text.size() >= 3 && std::ranges::all_of(text.substr(0, 3), [](char c) { return c >= '0' && c <= '9'; })) {
    expected.status = std::stoi(std::string(text.substr(0, 3)));
    text.remove_prefix(3);
    if (text.empty() || text.starts_with(": ")) return expected;
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  expected.body = JsonValue::Parse(text);
  return expected;
}

bool Holds(const Expected& expected, const Request& request) {
  if (expected.status ? request.status != *expected.status : request.status >= 400) return false;
  if (!expected.body) return true;
  try {
    return Covers(JsonValue::Parse(request.body), *expected.body);
  } catch (const std::exception&) {
    return false;  // the answer is no JSON
  }
}

// What is wrong with a statement of what was answered; nothing if it holds.
std::optional<std::string> Fault(const Statement& statement, std::vector<Request>* requests) {
  // The last request of those whose command begins there or before.
  const auto found = std::find_if(requests->rbegin(), requests->rend(),
                                  [&](const Request& request) { return request.line <= statement.line; });
  if (found == requests->rend()) return fmt::format("line {}: states an answer to nothing", statement.line);
  if (found->stated) return fmt::format("line {}: states another answer to {}", statement.line, found->command);
  found->stated = true;
  try {
    if (Holds(ReadStatement(statement.text), *found)) return std::nullopt;
  } catch (const std::exception& error) {
    return fmt::format("line {}: neither a status nor JSON: {} ({})", statement.line, statement.text, error.what());
  }
  return fmt::format("line {}: {}\n  stated:   {}\n  answered: {} {}", statement.line, found->command, statement.text,
                     found->status, found->body);
}

}  // namespace

ExamplesRun RunExamples(std::string_view page_text, const std::string& address) {
  Page page = ReadPage(page_text, address);
  ExamplesRun run{.stated = page.statements.size(), .faults = std::move(page.faults)};
  std::vector<Request> requests = RunScript(page.script, &run.faults);
  run.requests = requests.size();
  for (const Statement& statement : page.statements) {
    if (auto fault = Fault(statement, &requests)) run.faults.push_back(std::move(*fault));
  }
  for (const Request& request : requests) {
    if (request.stated || (request.status >= 200 && request.status < 400)) continue;
    run.faults.push_back(fmt::format("line {}: {}\n  nothing is stated\n  answered: {} {}", request.line,
                                     request.command, request.status, request.body));
  }
  return run;
}

}  // namespace kvarts::test
