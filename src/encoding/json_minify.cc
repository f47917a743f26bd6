#include "encoding/json_minify.h"

#include "encoding/byte_search.h"

namespace kvarts {
namespace {

// Where the text ends whose opening quote is at the front: the size, with both quotes.
size_t TextSize(std::string_view json) {
  size_t at = 1;
  while (at < json.size()) {
    at += FirstByte(json.substr(at), [](ByteLanes lanes) { return (lanes == '"') | (lanes == '\\'); });
    if (at >= json.size()) break;
    if (json[at] == '"') return at + 1;
    at += 2;
  }
  return json.size();
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void AppendMinified(Bytes* to, std::string_view json) {
  size_t kept = 0;  // up to here it has been copied, or left out
  size_t at = 0;
  while (at < json.size()) {
    if (json[at] == '"') {
      at += TextSize(json.substr(at));
    } else if (IsSpace(json[at])) {
      to->append(json.substr(kept, at - kept));
      kept = ++at;
    } else {
      ++at;
    }
  }
  to->append(json.substr(kept));
}

Result<Bytes> Minified(std::string_view text, JsonOptions options) {
  JsonReader reader(text, options);
  const std::string_view json = reader.Raw();
  KVARTS_CHECK_OK(reader.Finish());
  Bytes minified;
  minified.reserve(json.size());
  AppendMinified(&minified, json);
  return minified;
}

}  // namespace kvarts
