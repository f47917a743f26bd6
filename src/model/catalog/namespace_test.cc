// What a namespace can be, and its bytes (FORMAT.md).
#include "model/catalog/namespace.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "core/keyspace.h"
#include "support/format_table.h"

namespace kvarts {
namespace {

NamespaceSpec SpecOf(std::string_view grammar, std::string name = "events") {
  NamespaceSpec spec;
  spec.name = std::move(name);
  spec.grammar = Grammar::Parse(grammar).value();
  return spec;
}

// "ok", or the field that is refused.
std::string Checked(const NamespaceSpec& spec) {
  const auto valid = Validate(spec, Limits());
  if (valid) return "ok";
  EXPECT_TRUE(valid.error().code() == ErrorCode::kInvalidArgument || valid.error().code() == ErrorCode::kTooLarge);
  return std::string(valid.error().field("field"));
}
std::string Checked(const std::function<void(NamespaceSpec&)>& change) {
  NamespaceSpec spec = SpecOf("t/<tenant>/log/<day:date>/<id>");
  change(spec);
  return Checked(spec);
}

TEST(NamespaceTest, DefaultsFollowFromTheGrammar) {
  const NamespaceSpec with = Validate(SpecOf("x/<a>/<tenant>"), Limits()).value();
  EXPECT_EQ(with.partition_field, "a");
  EXPECT_EQ(with.tenant_field, "tenant");
  EXPECT_EQ(Namespace::Of(with).tenant, 1u);
  EXPECT_EQ(Validate(SpecOf("x/<a>"), Limits())->tenant_field, "");
  NamespaceSpec none = SpecOf("x/<tenant>");
  none.tenant_field = "";
  EXPECT_EQ(Namespace::Of(Validate(none, Limits()).value()).tenant, std::nullopt);
  EXPECT_EQ(Validate(with, Limits()).value(), with) << "nothing is left to fill in";
}

TEST(NamespaceTest, WhatCannotBeIsRefusedByItsField) {
  EXPECT_EQ(Checked([](NamespaceSpec&) {}), "ok");
  for (const std::string& name : {std::string(), std::string("A"), std::string("a b"), std::string("a/b"),
                                  std::string("\xc3\xa9"), std::string(65, 'a')}) {
    EXPECT_EQ(Checked([&](NamespaceSpec& spec) { spec.name = name; }), "name") << name;
  }
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.name = std::string(62, 'a') + "-_"; }), "ok");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.grammar = {}; }), "grammar");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.partition_field = "x"; }), "partition_field");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.tenant_field = "x"; }), "tenant_field");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.max_key_bytes = 0; }), "max_key_bytes");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.max_key_bytes = 2; }), "max_key_bytes") << "t/ alone is as long";
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.max_key_bytes = 8192; }), "ok");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.max_key_bytes = 8193; }), "max_key_bytes");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.max_value_bytes = (16 << 20) + 1; }), "max_value_bytes");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.default_ttl = Duration::Micros(0); }), "default_ttl");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.default_ttl = Duration::Micros(INT64_MAX); }), "default_ttl");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.envelope.types = {"a"}; }), "envelope.required");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.envelope = {true, {""}}; }), "envelope.types");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) {
              spec.envelope = {true, std::vector<std::string>(257, "a")};
            }),
            "envelope.types");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.envelope = {true, {}, 3, 2}; }), "envelope.min_schema");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.envelope = {true, {}, 3, 3}; }), "ok");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.retention = {"x", Duration::Seconds(1)}; }), "retention.field");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.retention = {"id", Duration::Seconds(1)}; }), "retention.field");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.retention = {"day", Duration::Seconds(0)}; }), "retention.keep");
  EXPECT_EQ(Checked([](NamespaceSpec& spec) { spec.retention = {"day", Duration::Seconds(1)}; }), "ok");
}

TEST(NamespaceTest, AKeysPartitionEndsBehindItsField) {
  NamespaceSpec spec = SpecOf("t/<tenant>/case/<id>");
  KeyFields fields;
  KeyMismatch why;
  const Bytes key = "t/acme/case/7";
  ASSERT_TRUE(spec.grammar.Match(key, &fields, &why));
  EXPECT_EQ(Namespace::Of(Validate(spec, Limits()).value()).PartitionEnd(key, fields), 6u);
  spec.partition_field = "id";
  EXPECT_EQ(Namespace::Of(Validate(spec, Limits()).value()).PartitionEnd(key, fields), key.size());
}

// "name events, ttl 5": each name with what follows it.
std::map<std::string, std::string> WordsOf(const std::string& cell) {
  std::map<std::string, std::string> words;
  std::istringstream parts(WithoutTicks(cell));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::string trimmed = TrimmedCell(part);
    const size_t space = std::min(trimmed.find(' '), trimmed.size());
    words[trimmed.substr(0, space)] = TrimmedCell(trimmed.substr(space));
  }
  return words;
}

Namespace FromWords(std::map<std::string, std::string> words) {
  NamespaceSpec spec = SpecOf(words.at("grammar"), words.at("name"));
  const auto number = [&](const char* name) -> std::optional<uint64_t> {
    if (!words.contains(name)) return std::nullopt;
    return std::stoull(words[name]);
  };
  spec.partition_field = words["partition"];
  spec.max_key_bytes = number("max-key");
  spec.max_value_bytes = number("max-value");
  if (words.contains("ttl")) spec.default_ttl = Duration::Micros(std::stoll(words["ttl"]));
  if (words.contains("profile")) spec.profile = *ParseProfile(words["profile"]);
  spec.envelope.required = words.contains("envelope");
  std::istringstream types(words["types"]);
  for (std::string type; types >> type;) spec.envelope.types.push_back(type);
  if (const auto schema = number("min-schema")) spec.envelope.min_schema = static_cast<uint32_t>(*schema);
  if (const auto schema = number("max-schema")) spec.envelope.max_schema = static_cast<uint32_t>(*schema);
  if (words.contains("retention")) spec.retention = {words["retention"], Duration::Micros(std::stoll(words["keep"]))};
  const auto feed = number("feed");
  spec.feed = feed.has_value();
  const auto valid = Validate(spec, Limits());
  EXPECT_TRUE(valid) << valid.error();
  Namespace space = Namespace::Of(valid.value());
  if (words.contains("dropping")) space.state = Namespace::State::kDropping;
  if (feed) space.feed = FeedId{*feed};
  return space;
}

TEST(NamespaceFormatTest, EveryVectorEncodesAndDecodesAsWritten) {
  for (const FormatRow& row : FormatTableUnder("### Test vectors of namespaces")) {
    const Namespace space = FromWords(WordsOf(row.at(0)));
    const Bytes bytes = space.Encode();
    EXPECT_EQ(ToHex(bytes), WithoutTicks(row.at(1))) << row.at(0);
    const auto decoded = Namespace::Decode(space.spec.name, bytes);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(*decoded, space) << row.at(0);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = Namespace::Decode(space.spec.name, BytesView(bytes).substr(0, size));
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().code(), ErrorCode::kCorruption);
    }
  }
}

TEST(NamespaceFormatTest, WhatIsNoneIsRefused) {
  for (const FormatRow& row : FormatTableUnder("### Refused as namespaces")) {
    const auto decoded = Namespace::Decode("n", FromHex(WithoutTicks(row.at(0))).value());
    ASSERT_FALSE(decoded) << row.at(1);
    EXPECT_EQ(decoded.error().code(), ErrorCode::kCorruption) << row.at(1);
  }
}

TEST(NamespaceFormatTest, KeysAreThoseOfTheMap) {
  EXPECT_EQ(DescribeKey(NamespaceKey("events")), "settings: (1, \"namespace\", \"events\")");
  EXPECT_EQ(DescribeKey(CatalogStampKey()), "settings: (1, \"catalog\")");
  EXPECT_TRUE(NamespaceKeys().Contains(NamespaceKey("a").view()));
  EXPECT_FALSE(NamespaceKeys().Contains(BytesView(CatalogStampKey())));
  EXPECT_EQ(NameOfNamespaceKey(NamespaceKey("events")).value(), "events");
}

}  // namespace
}  // namespace kvarts
