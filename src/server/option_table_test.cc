#include "server/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/units.h"

namespace kvarts {
namespace {

using testing::ElementsAre;

std::string Refusal(std::string_view name, std::vector<std::string> words) {
  ServerOptions options;
  const Status set = FindOption(name)->Set(options, words);
  return set.has_value() ? "none" : std::string(set.error().text());
}

TEST(OptionTable, NamesFollowFromOne) {
  const Option& option = *FindOption("http.max_body_bytes");
  EXPECT_EQ(option.Environment(), "KVARTS_HTTP_MAX_BODY_BYTES");
  EXPECT_EQ(option.Flag(), "http-max-body-bytes");
  EXPECT_EQ(option.Section(), "http");
  EXPECT_EQ(option.Key(), "max_body_bytes");
  EXPECT_EQ(FindOption("listen")->Section(), "");
  EXPECT_EQ(FindOption("listen")->Key(), "listen");
  EXPECT_EQ(FindOption("http"), nullptr);
}

TEST(OptionTable, IsOrderedAndWithoutDoubles) {
  std::set<std::string> flags;
  std::set<std::string_view> sections;
  std::string_view section;
  for (const Option& option : OptionTable()) {
    EXPECT_TRUE(flags.insert(option.Flag()).second) << option.name;
    EXPECT_TRUE(flags.insert(option.Environment()).second) << option.name;
    EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
    if (option.Section() == section) continue;
    section = option.Section();
    EXPECT_FALSE(section.empty()) << option.name << " stands behind a section";
    EXPECT_TRUE(sections.insert(section).second) << option.name << " is apart from its section";
  }
}

TEST(OptionTable, TypesFitTheirPlacesAndDefaultsTheirLimits) {
  ServerOptions options;
  for (const Option& option : OptionTable()) {
    const OptionRef ref = option.place(options);
    const size_t expected = option.type == OptionType::kText || option.type == OptionType::kPath    ? 0
                            : option.type == OptionType::kBool                                      ? 1
                            : option.type == OptionType::kCount || option.type == OptionType::kSize ? 2
                            : option.type == OptionType::kDuration                                  ? 3
                            : option.type == OptionType::kList                                      ? 4
                                                                                                    : 5;
    EXPECT_EQ(ref.index(), expected) << option.name;
    const Status set = option.Set(options, option.Words(ServerOptions{}));
    EXPECT_TRUE(set) << option.name << ": " << set.error();
    EXPECT_EQ(option.Words(options), option.Words(ServerOptions{})) << option.name;
  }
}

TEST(OptionTable, EveryLimitHoldsAtBelowAndAbove) {
  for (const Option& option : OptionTable()) {
    if (option.type != OptionType::kCount && option.type != OptionType::kSize && option.type != OptionType::kDuration) {
      continue;
    }
    const auto text = [&](uint64_t value) {
      if (option.type == OptionType::kDuration) return DurationText({static_cast<int64_t>(value)});
      return option.type == OptionType::kSize ? SizeText(value) : std::to_string(value);
    };
    EXPECT_EQ(Refusal(option.name, {text(option.at_least)}), "none") << option.name;
    if (option.at_least > 0) {
      EXPECT_EQ(Refusal(option.name, {text(option.at_least - 1)}), "the value is too small") << option.name;
    }
    if (option.at_most == UINT64_MAX) continue;
    EXPECT_EQ(Refusal(option.name, {text(option.at_most)}), "none") << option.name;
    EXPECT_EQ(Refusal(option.name, {text(option.at_most + 1)}), "the value is too large") << option.name;
  }
}

TEST(OptionTable, EveryTypeRefusesWhatItIsNot) {
  for (const char* wrong : {"", "x", "-1", "1.5", "1e3", " 1", "1 ", "0x10", "99999999999999999999"}) {
    EXPECT_NE(Refusal("loops", {wrong}), "none") << wrong;
    EXPECT_NE(Refusal("memory_budget", {wrong}), "none") << wrong;
    EXPECT_NE(Refusal("slow_request", {wrong}), "none") << wrong;
  }
  for (const char* wrong : {"1KB2", "8 MiB", "8M", "MiB", "99999999999TiB"}) {
    EXPECT_NE(Refusal("memory_budget", {wrong}), "none") << wrong;
  }
  for (const char* wrong : {"5x", "5 s", "s", "-5s", "9223372036854775807d"}) {
    EXPECT_NE(Refusal("slow_request", {wrong}), "none") << wrong;
  }
  for (const char* wrong : {"", "1", "yes", "True", "on"})
    EXPECT_NE(Refusal("metrics.enabled", {wrong}), "none") << wrong;
  for (const char* wrong : {"", "ROCKSDB", "rocks"}) EXPECT_NE(Refusal("engine", {wrong}), "none") << wrong;
  EXPECT_EQ(Refusal("data", {"a", "b"}), "takes one value, not a list");
  EXPECT_EQ(Refusal("loops", {}), "takes one value, not a list");
}

TEST(OptionTable, ARefusedValueChangesNothing) {
  ServerOptions options;
  EXPECT_FALSE(FindOption("memory_budget")->Set(options, std::vector<std::string>{"1B"}));
  EXPECT_EQ(options.memory_budget, ServerOptions{}.memory_budget);
}

TEST(OptionTable, WritesValuesAsAFileHasThem) {
  ServerOptions options;
  options.data = "a\"\\\n";
  EXPECT_EQ(FindOption("data")->TomlValue(options), R"("a\"\\\u000a")");
  EXPECT_EQ(FindOption("data")->Text(options), R"(a"\\\x0a)");
  EXPECT_EQ(FindOption("listen")->TomlValue(options), R"(["127.0.0.1:7700"])");
  EXPECT_EQ(FindOption("http.cors_origins")->TomlValue(options), "[]");
  EXPECT_EQ(FindOption("loops")->TomlValue(options), "0");
  EXPECT_EQ(FindOption("metrics.enabled")->TomlValue(options), "true");
  EXPECT_EQ(FindOption("http.max_body_bytes")->TomlValue(options), "\"64MiB\"");
  EXPECT_EQ(FindOption("http.max_body_bytes")->Range(), "from 1KiB to 2GiB");
  EXPECT_EQ(FindOption("loops")->Range(), "at most 1024");
  EXPECT_EQ(FindOption("scan.tombstones_warn")->Range(), "at least 1");
  EXPECT_EQ(FindOption("data")->Range(), "");
}

TEST(OptionTable, KnowsWhatWasMeant) {
  EXPECT_EQ(NearestOption("http.max_bdoy_bytes"), "http.max_body_bytes");
  EXPECT_EQ(NearestOption("certificate"), "tls.certificate");
  EXPECT_EQ(NearestOption("http.certificate"), "tls.certificate");
  EXPECT_EQ(NearestOption("frobnicate"), "");
  EXPECT_THAT(FindOption("metrics.enabled")->Choices(), ElementsAre("true", "false"));
}

}  // namespace
}  // namespace kvarts
