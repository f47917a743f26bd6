// Any bytes as what a client sends: the head and the framing of its body get the same answer whole and in pieces,
// and what they show lies within what was sent.
// links: kvarts_net_http
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "net/http/chunked.h"
#include "net/http/negotiate.h"
#include "net/http/request_head.h"
#include "support/expect.h"

namespace {

using namespace kvarts;        // NOLINT: a target has one subject
using namespace kvarts::http;  // NOLINT

constexpr uint64_t kMaxBody = 1 << 16;

// Everything a head shows.
std::vector<std::string_view> Views(const RequestHead& head) {
  std::vector<std::string_view> views = {head.method_text(), head.path(), head.query()};
  for (int i = 0; i < static_cast<int>(Field::kCount); ++i) views.push_back(head.Get(static_cast<Field>(i)));
  for (size_t i = 0; i < head.kvarts_headers(); ++i) {
    views.push_back(head.kvarts_name(i));
    views.push_back(head.kvarts_value(i));
    Expect(head.Header(head.kvarts_name(i)) == head.kvarts_value(i), "a kept header is found by its name");
  }
  return views;
}

void CheckHead(const RequestHead& head, std::string_view input) {
  for (const std::string_view view : Views(head)) {
    Expect(view.empty() || (view.data() >= input.data() && view.data() + view.size() <= input.data() + input.size()),
           "a view lies within the input");
    for (const char c : view) Expect(c != '\r' && c != '\n' && c != '\0', "no line ends within a view");
  }
  Expect(head.path().starts_with('/') || head.path() == "*", "a path begins with a slash");
  Expect(!(head.chunked() && head.content_length()), "a body has one framing");
  Expect(head.minor_version() == 0 || head.has_host(), "HTTP/1.1 has a host");
}

// A copy in memory of its own size, so that reading past its end is found.
struct Exact {
  explicit Exact(std::string_view from) : size(from.size()), bytes(new char[from.size()]) {
    if (!from.empty()) std::memcpy(bytes.get(), from.data(), size);
  }
  std::string_view view() const { return {bytes.get(), size}; }

  size_t size;
  std::unique_ptr<char[]> bytes;
};

struct Body {
  Bytes bytes;
  size_t consumed = 0;
  bool done = false;
  int status = 0;
  friend bool operator==(const Body&, const Body&) = default;
};

// The chunked body at the front of `input`, which is cut there.
Body Decode(std::string_view input, size_t cut) {
  ChunkedDecoder decoder(kMaxBody);
  Exact buffer(input);
  Body body;
  size_t produced = 0;
  for (const auto& [from, to] : {std::pair(size_t{0}, cut), std::pair(cut, input.size())}) {
    if (body.done || body.status != 0) break;
    const auto progress = decoder.Decode(buffer.view().substr(from, to - from), buffer.bytes.get() + produced);
    Expect(progress.produced <= progress.consumed && progress.consumed <= to - from, "a decoder stays within bounds");
    Expect(progress.done || progress.error || progress.consumed == to - from, "all is consumed until it ends");
    produced += progress.produced;
    body.consumed += progress.consumed;
    body.done = progress.done;
    body.status = progress.error.status;
  }
  body.bytes.assign(buffer.bytes.get(), produced);
  Expect(produced <= kMaxBody, "a body has a limit");
  return body;
}

// One request at the front of the input; how long it is, or nothing when there is no telling.
std::optional<size_t> CheckRequest(std::string_view input, size_t cut, const HeadLimits& limits) {
  RequestHead whole_head;
  HeadParser whole_parser(limits);
  const Exact whole_bytes(input);
  const HeadResult whole = whole_parser.Parse(whole_bytes.view(), &whole_head);
  Expect(!whole.incomplete() || input.size() < limits.max_head_bytes, "a head that is too large is refused");

  HeadParser parser(limits);
  RequestHead head;
  const Exact part(input.substr(0, cut));
  HeadResult result = parser.Parse(part.view(), &head);
  const Exact rest(input);
  if (result.incomplete()) {
    result = parser.Parse(rest.view(), &head);
  } else if (result.complete()) {
    head.Rebase(rest.bytes.get());
  }
  Expect(result.state == whole.state && result.size == whole.size && result.error.status == whole.error.status,
         "pieces get the answer of the whole");
  if (!whole.complete()) return std::nullopt;
  Expect(whole.size <= input.size(), "a head ends within the input");
  CheckHead(whole_head, whole_bytes.view());
  Expect(Views(head) == Views(whole_head), "pieces show what the whole shows");
  Expect(head.keep_alive() == whole_head.keep_alive(), "pieces stay open as the whole does");

  constexpr std::string_view kOffered[] = {"application/json", "text/event-stream"};
  const auto choice = ChooseMedia(head.accept(), kOffered);
  Expect(!choice || *choice < 2, "one of those offered is chosen");
  AcceptsGzip(head.accept_encoding());
  IgnoreError(MediaType::Parse(head.content_type()));
  if (const auto tags = EntityTags::Parse(head.if_match(), "If-Match"); tags.has_value() && !tags->any()) {
    Expect(tags->HoldsWeakly(tags->front().text), "a list holds its first tag");
  }

  const std::string_view after = input.substr(whole.size);
  if (!head.chunked()) {
    const uint64_t length = head.content_length().value_or(0);
    return length <= after.size() ? std::optional(whole.size + length) : std::nullopt;
  }
  const Body body = Decode(after, after.size());
  Expect(Decode(after, after.empty() ? 0 : cut % after.size()) == body, "a body in pieces is that of the whole");
  return body.done ? std::optional(whole.size + body.consumed) : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  HeadLimits limits;
  // Small limits for half of the inputs: the large ones are out of reach.
  if (size % 2 != 0) limits = {.max_head_bytes = 160, .max_headers = 6, .max_target_bytes = 24};
  uint64_t mixed = size * 0x9e3779b97f4a7c15;
  for (int requests = 0; requests < 16 && !input.empty(); ++requests) {
    mixed = (mixed ^ static_cast<unsigned char>(input.back())) * 0x9e3779b97f4a7c15;
    const auto consumed = CheckRequest(input, (mixed >> 32) % (input.size() + 1), limits);
    if (!consumed) break;
    input.remove_prefix(*consumed);
  }
  return 0;
}
