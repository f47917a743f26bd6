// The envelope: what it keeps, what it refuses, and what the record around it adds. Its bytes are in
// core_format_test.cc.
#include "core/envelope.h"

#include "support/stores.h"

namespace kvarts::test {
namespace {

Envelope Full() {
  Envelope envelope;
  envelope.schema = 3;
  envelope.type = "case.current";
  envelope.tenant = "t_123";
  envelope.actor = "user_789";
  envelope.trace = "trace_abc";
  envelope.command = "cmd_1";
  envelope.payload = Bytes("\0any bytes\xff", 11);
  return envelope;
}

TEST(EnvelopeTest, KeepsEveryField) {
  const auto decoded = Envelope::Decode(Full().Encode().value());
  ASSERT_TRUE(decoded.has_value()) << decoded.error();
  EXPECT_EQ(*decoded, Full());
  EXPECT_EQ(*Envelope::Decode(Envelope().Encode().value()), Envelope());
}

TEST(EnvelopeTest, CostsLittleWhenItSaysLittle) { EXPECT_EQ(Envelope().Encode()->size(), 3u); }

TEST(EnvelopeTest, TextsHaveALimit) {
  Envelope envelope = Full();
  envelope.trace = std::string(EnvelopeView::kMaxTextBytes, 'x');
  EXPECT_TRUE(envelope.Encode().has_value());
  envelope.trace += "x";
  const auto encoded = envelope.Encode();
  ASSERT_EQ(CodeOf(encoded), "too_large");
  EXPECT_EQ(encoded.error().field("field"), "trace");
}

TEST(EnvelopeTest, IsWholeOrRefusedAtEveryLength) {
  const Bytes bytes = Full().Encode().value();
  const size_t before_payload = bytes.size() - Full().payload.size();
  for (size_t size = 0; size <= bytes.size(); ++size) {
    EXPECT_EQ(Envelope::Decode(BytesView(bytes).substr(0, size)).has_value(), size >= before_payload) << size;
  }
}

TEST(EnvelopeTest, TheHeaderMustAgree) {
  Record record;
  record.value = Full().Encode().value();
  EXPECT_EQ(CodeOf(OpenEnvelope(record)), "invalid_argument") << "not said to be one";
  record.header.kind = ValueKind::kEnvelope;
  record.header.schema = 2;
  EXPECT_EQ(CodeOf(OpenEnvelope(record)), "corruption");
  record.header.schema = 3;
  EXPECT_EQ(CodeOf(OpenEnvelope(record)), "ok");
}

class StoredEnvelopeTest : public StoreTest {};
KVARTS_ON_EVERY_ENGINE(StoredEnvelopeTest);

TEST_P(StoredEnvelopeTest, VersionAndTimeAreTheRecords) {
  const Version version = MustRun([](Txn& txn) { return PutEnvelope(txn, "case_456", Full()); });
  const auto record = Find("case_456");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->header.kind, ValueKind::kEnvelope);
  EXPECT_EQ(record->header.schema, 3u);
  const auto stored = OpenEnvelope(*record);
  ASSERT_TRUE(stored) << stored.error();
  EXPECT_EQ(stored->envelope, Full());
  EXPECT_EQ(stored->version, version);
  EXPECT_EQ(stored->updated_at, version.time());
}

TEST_P(StoredEnvelopeTest, IsWrittenInTheNameOfTheContextUnlessItSaysOtherwise) {
  RunOptions options;
  options.context = {.actor = "ada", .trace = "t1", .command = "c1"};
  Envelope envelope;
  envelope.trace = "its own";
  const Timestamp expiry = In(Duration::Seconds(1));
  MustRun([&](Txn& txn) { return PutEnvelope(txn, "a", envelope, expiry); }, options);
  const auto stored = OpenEnvelope(*Find("a"));
  ASSERT_TRUE(stored) << stored.error();
  EXPECT_EQ(stored->envelope.actor, "ada");
  EXPECT_EQ(stored->envelope.trace, "its own");
  EXPECT_EQ(stored->envelope.command, "c1");
  Wait(Duration::Seconds(1));
  EXPECT_FALSE(Find("a"));
}

}  // namespace
}  // namespace kvarts::test
