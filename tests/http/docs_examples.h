// The examples of a page of documentation, run as its reader would run them: by a shell and curl, one after the other.
//
// Commands are what stands in code blocks that name no language, and say localhost:7700. Behind a command, in its last
// line or below it, may stand what it answers:
//
//   # → 412                          the status, with a remark if one likes: "# → 412: it is paid"
//   # → {"value": {"n": 1}}          a part of the JSON in the answer; a line that begins with "#   " goes on with it
//   # → 409 {"index": "by_mail"}     both
//
// An object stated has at least these fields, a list these elements and no others; null is nothing, too, and "…"
// whatever is there. Without a status, and where nothing is stated, a request must be answered with less than 400.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::test {

struct ExamplesRun {
  size_t requests = 0;
  size_t stated = 0;
  // What is not as the page says: the line, the command and the answer. Empty is as it should be.
  std::vector<std::string> faults = {};
};

// Runs the examples of a page against the server at this address.
ExamplesRun RunExamples(std::string_view page, const std::string& address);

}  // namespace kvarts::test
