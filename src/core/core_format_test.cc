// FORMAT.md says what core writes: its tables of envelopes, feeds, cursors and jobs are read and tried.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "core/cursor.h"
#include "core/envelope.h"
#include "core/feed_codec.h"
#include "core/job_record.h"
#include "core/keyspace.h"
#include "core/user_keys.h"
#include "support/format_table.h"
#include "support/printing.h"

namespace kvarts {
namespace {

// "schema 3, type case.current": each name with what follows it. A name alone has an empty value.
class Words {
 public:
  explicit Words(const std::string& cell) {
    std::istringstream parts(WithoutTicks(cell));
    for (std::string part; std::getline(parts, part, ',');) {
      const std::string trimmed = TrimmedCell(part);
      const size_t space = std::min(trimmed.find(' '), trimmed.size());
      values_[trimmed.substr(0, space)] = TrimmedCell(trimmed.substr(space));
    }
  }
  ~Words() {
    for (const auto& [name, value] : values_) EXPECT_TRUE(used_.contains(name)) << "nobody reads " << name;
  }

  bool Has(const std::string& name) {
    used_.insert(name);
    return values_.contains(name);
  }
  std::string Text(const std::string& name) { return Has(name) ? values_[name] : ""; }
  uint64_t Number(const std::string& name) { return Has(name) ? std::stoull(values_[name]) : 0; }

 private:
  std::map<std::string, std::string> values_;
  std::set<std::string> used_;
};

Bytes BytesOf(std::string hex) {
  std::erase(hex, '`');
  std::erase(hex, ' ');
  const auto bytes = FromHex(hex);
  EXPECT_TRUE(bytes.has_value()) << hex;
  return bytes.value_or(Bytes());
}

// What is listed under a heading as refused is corruption.
void ExpectRefused(const std::string& heading, const std::function<bool(BytesView, Error*)>& decodes) {
  for (const FormatRow& row : FormatTableUnder(heading)) {
    Error error(ErrorCode::kInternal, "");
    EXPECT_FALSE(decodes(BytesOf(row.at(0)), &error)) << row.at(1);
    EXPECT_EQ(error.code(), ErrorCode::kCorruption) << row.at(1);
  }
}

template <class T>
bool Kept(const Result<T>& result, Error* error) {
  if (!result.has_value()) *error = result.error();
  return result.has_value();
}

TEST(CoreFormatTest, TheMapOfTheKeyspaceIsWhatTheCodeHas) {
  int spaces = 0;
  for (const FormatRow& row : FormatTableUnder("### The map of the keyspace")) {
    if (row.at(0).empty()) continue;
    ++spaces;
    EXPECT_EQ(row.at(0), std::to_string(spaces));
    EXPECT_EQ(row.at(1), SpaceName(static_cast<Space>(spaces)));
  }
  EXPECT_EQ(SpaceName(static_cast<Space>(spaces + 1)), "");
  EXPECT_EQ(Bytes(UserKey("user:1").view()), BytesOf("15 02 70") + "user:1");
}

TEST(CoreFormat, TypedValues) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of typed values")) {
    Words words(row.at(0));
    const std::string type = words.Text("type") == "(none)" ? "" : words.Text("type");
    const std::string bytes = words.Text("bytes");
    const auto encoded = TypedValue{type, bytes}.Encode();
    ASSERT_TRUE(encoded) << encoded.error();
    EXPECT_EQ(*encoded, BytesOf(row.at(1)));
    const auto decoded = TypedValue::Decode(*encoded);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->type, type);
    EXPECT_EQ(decoded->bytes, bytes);
  }
  EXPECT_FALSE(TypedValue::Decode(BytesOf("0a7465")));
  EXPECT_FALSE(TypedValue::Decode(""));
}

TEST(CoreFormatTest, EveryEnvelopeVectorEncodesAndDecodesAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of envelopes")) {
    Words words(row.at(0));
    Envelope envelope;
    envelope.schema = static_cast<uint32_t>(words.Number("schema"));
    envelope.type = words.Text("type");
    envelope.tenant = words.Text("tenant");
    envelope.actor = words.Text("actor");
    envelope.trace = words.Text("trace");
    envelope.command = words.Text("command");
    envelope.payload = words.Text("payload");
    const Bytes bytes = BytesOf(row.at(1));
    EXPECT_EQ(ToHex(envelope.Encode().value()), ToHex(bytes)) << row.at(0);
    const auto decoded = Envelope::Decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(*decoded, envelope) << row.at(0);
  }
}

TEST(CoreFormatTest, WhatIsNoEnvelopeIsRefused) {
  ExpectRefused("### Refused as envelopes",
                [](BytesView bytes, Error* error) { return Kept(Envelope::Decode(bytes), error); });
}

// "before" and "after" are followed by flags that stand for a whole record.
FeedDraft::State StateOf(Words& words, const std::string& name) {
  FeedDraft::State state;
  if (!words.Has(name)) return state;
  state.record.emplace();
  state.record->value = words.Text(name);
  ValueHeader& header = state.record->header;
  header.version = {words.Number(name + "-version")};
  header.schema = static_cast<uint32_t>(words.Number(name + "-schema"));
  header.kind = static_cast<ValueKind>(words.Number(name + "-kind"));
  header.owned = words.Has(name + "-owned");
  if (words.Has(name + "-expiry")) header.expiry = {words.Number(name + "-expiry")};
  if (words.Has(name + "-stamp")) state.stamp = static_cast<uint32_t>(words.Number(name + "-stamp"));
  return state;
}

// The record as a reader finds it, in an entry of this version.
std::optional<Record> Read(FeedDraft::State state, Version version) {
  if (!state.record) return std::nullopt;
  if (state.record->header.version == kNoVersion) state.record->header.version = version;
  if (state.stamp != Mutation::kNoStamp) StoreBig(state.record->value.data() + state.stamp, version.stamp);
  return state.record;
}

TEST(CoreFormatTest, EveryFeedVectorEncodesAndDecodesAsWritten) {
  const std::map<std::string, Mutation::Op> ops = {{"put", Mutation::Op::kPut},
                                                   {"erase", Mutation::Op::kErase},
                                                   {"erase-range", Mutation::Op::kEraseRange},
                                                   {"add", Mutation::Op::kAdd}};
  const FeedPosition position{Version::FromTime({1'700'000'000'000'000}), 3};
  const KeyBuffer key = FeedEntryKey({1}, position);
  for (const FormatRow& row : FormatTableUnder("### Test vectors of feed entries")) {
    Words words(row.at(0));
    FeedDraft draft;
    for (const auto& [name, op] : ops) {
      if (words.Has(name)) draft.op = op;
    }
    Bytes changed;
    for (const auto& [name, op] : ops) changed += words.Text(name);
    const Bytes end = words.Text("end");
    draft.key = changed;
    draft.end = end;
    if (words.Has("key-stamp")) draft.key_stamp = static_cast<uint32_t>(words.Number("key-stamp"));
    draft.before = StateOf(words, "before");
    draft.after = StateOf(words, "after");
    const Context context{words.Text("actor"), words.Text("trace"), words.Text("command")};
    const Bytes bytes = BytesOf(row.at(1));
    EXPECT_EQ(ToHex(EncodeFeedDraft(draft, context)), ToHex(bytes)) << row.at(0);
    const auto decoded = DecodeFeedEntry(key, bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    if (draft.key_stamp != Mutation::kNoStamp) StoreBig(changed.data() + draft.key_stamp, position.version.stamp);
    EXPECT_EQ(decoded->position, position);
    EXPECT_EQ(decoded->op, draft.op);
    EXPECT_EQ(decoded->key, changed);
    EXPECT_EQ(decoded->end, end);
    EXPECT_EQ(decoded->before, Read(draft.before, position.version));
    EXPECT_EQ(decoded->after, Read(draft.after, position.version));
    EXPECT_EQ(decoded->context, context);
  }
}

TEST(CoreFormatTest, WhatIsNoFeedEntryIsRefused) {
  const KeyBuffer key = FeedEntryKey({1}, {Version::FromTime({1'700'000'000'000'000}), 0});
  ExpectRefused("### Refused as feed entries",
                [&](BytesView bytes, Error* error) { return Kept(DecodeFeedEntry(key, bytes), error); });
}

TEST(CoreFormatTest, EveryFeedDeclarationEncodesAndDecodesAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of feed declarations")) {
    Words words(row.at(0));
    const FeedDeclaration declaration{{words.Text("start"), words.Text("end")}, {words.Number("floor")}};
    const Bytes bytes = BytesOf(row.at(1));
    EXPECT_EQ(ToHex(declaration.Encode()), ToHex(bytes)) << row.at(0);
    const auto decoded = FeedDeclaration::Decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(*decoded, declaration) << row.at(0);
  }
}

TEST(CoreFormatTest, EveryCursorIsMadeAndOpenedAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of cursors")) {
    Words words(row.at(0));
    const CursorQuery query{{words.Text("start"), words.Text("end")}, words.Has("reverse"), words.Text("other")};
    const KeyRange rest{words.Text("rest-start"), words.Text("rest-end")};
    const Timestamp issued{words.Number("issued")};
    const Bytes secret = words.Text("key");
    const auto key = secret.empty() ? std::nullopt : std::optional<BytesView>(secret);
    const std::string text = WithoutTicks(row.at(1));
    EXPECT_EQ(MakeCursor(query, rest, {words.Number("version")}, issued, key), text) << row.at(0);
    const auto opened = OpenCursor(text, query, issued, Duration::Seconds(1), key);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    EXPECT_EQ(*opened, rest) << row.at(0);
  }
}

TEST(CoreFormatTest, EveryJobVectorEncodesAndDecodesAsWritten) {
  std::set<JobState> states;
  for (const FormatRow& row : FormatTableUnder("### Test vectors of jobs")) {
    Words words(row.at(0));
    JobRecord job;
    for (uint8_t state = 0; state <= 5; ++state) {
      if (words.Has(std::string(JobStateName(static_cast<JobState>(state))))) job.state = static_cast<JobState>(state);
    }
    states.insert(job.state);
    job.created = {words.Number("created")};
    job.kind = words.Text("kind");
    job.parameters = words.Text("parameters");
    job.throttle = static_cast<uint32_t>(words.Number("throttle"));
    job.cursor = words.Text("cursor");
    job.done = words.Number("units");
    if (words.Has("total")) job.total = words.Number("total");
    job.not_before = {words.Number("not-before")};
    job.fence = words.Number("fence");
    if (words.Has("owner")) job.lease = {*Uuid::Parse(words.Text("owner")), {words.Number("until")}};
    if (words.Has("error")) job.error = {static_cast<ErrorCode>(words.Number("code")), words.Text("error")};
    const Bytes bytes = BytesOf(row.at(1));
    EXPECT_EQ(ToHex(job.Encode().value()), ToHex(bytes)) << row.at(0);
    const auto decoded = JobRecord::Decode(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error();
    EXPECT_EQ(*decoded, job) << row.at(0);
  }
  EXPECT_EQ(states.size(), 6u);
}

TEST(CoreFormatTest, WhatIsNoJobIsRefused) {
  ExpectRefused("### Refused as jobs",
                [](BytesView bytes, Error* error) { return Kept(JobRecord::Decode(bytes), error); });
}

TEST(CoreFormatTest, TheCodesOfJobErrorsAreTheOnesWrittenDown) {
  size_t rows = 0;
  for (const FormatRow& row : FormatTableUnder("### Error codes")) {
    EXPECT_EQ(ErrorCodeName(static_cast<ErrorCode>(std::stoi(row.at(0)))), WithoutTicks(row.at(1)));
    ++rows;
  }
  EXPECT_EQ(rows, static_cast<size_t>(ErrorCode::kInternal) + 1);
}

}  // namespace
}  // namespace kvarts
