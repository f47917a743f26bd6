// Gets: many keys per call, from a view or from the newest state, with what they cost.
#include <random>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class GetTest : public EngineTest {
 protected:
  // The values under many keys in one call, from the engine and from a view, which must agree.
  std::vector<std::string> Values(const std::vector<BytesView>& keys, ReadCost* cost = nullptr) {
    ReadOptions options;
    options.cost = cost;
    std::vector<std::optional<Record>> direct(keys.size());
    const Status got = engine().Get(keys, direct, options);
    EXPECT_TRUE(got) << got.error();
    std::vector<std::optional<Record>> viewed(keys.size());
    const Status seen = NewView()->Get(keys, viewed, {});
    EXPECT_TRUE(seen) << seen.error();
    EXPECT_EQ(direct, viewed);
    std::vector<std::string> values;
    for (const auto& record : direct) values.push_back(ValueOf(record));
    return values;
  }
};
KVARTS_ON_EVERY_ENGINE(GetTest);

using Strings = std::vector<std::string>;

Bytes RandomBytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_P(GetTest, FindsManyKeysInOneCallInTheirOrder) {
  Must({Mutation::Put("a", "1"), Mutation::Put("b", "2"), Mutation::Put("c", "3")});
  EXPECT_EQ(Values({"c", "a", "b"}), (Strings{"3", "1", "2"}));
}

TEST_P(GetTest, AnswersDuplicatesAndMissingKeysInPlace) {
  Must({Mutation::Put("a", "1"), Mutation::Put("c", "3")});
  Erase("c");
  EXPECT_EQ(Values({"a", "b", "a", "c", "", "a"}), (Strings{"1", "absent", "1", "absent", "absent", "1"}));
}

TEST_P(GetTest, OfNoKeysIsFine) { EXPECT_EQ(Values({}), Strings{}); }

TEST_P(GetTest, OverwritesWhatWasInTheAnswer) {
  const BytesView key = "missing";
  std::optional<Record> record = Record{.header = {}, .value = "old"};
  ASSERT_TRUE(engine().Get({&key, 1}, {&record, 1}, {}));
  EXPECT_FALSE(record);
}

TEST_P(GetTest, OfThousandsOfKeys) {
  std::vector<Mutation> puts;
  std::vector<Bytes> keys;
  for (int i = 0; i < 5000; ++i) {
    keys.push_back("key" + std::to_string(i));
    if (i % 2 == 0) puts.push_back(Mutation::Put(keys.back(), std::to_string(i)));
  }
  Must(std::move(puts));
  const Strings values = Values({keys.begin(), keys.end()});
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(values[i], i % 2 == 0 ? std::to_string(i) : "absent");
}

TEST_P(GetTest, AnEmptyValueIsAValue) {
  Put("a", "");
  const auto record = Find("a");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->value, "");
}

TEST_P(GetTest, TheLargestValueComesBack) {
  const Bytes value = RandomBytes(engine().limits().max_value_bytes, 1);
  const Version version = Put("large", value);
  const auto record = Find("large");
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->value == value);
  EXPECT_EQ(record->header.version, version);
  const auto view = NewView();
  Put("large", "small");
  EXPECT_TRUE(Find(*view, "large")->value == value);
  EXPECT_EQ(Value("large"), "small");
}

TEST_P(GetTest, TheLongestKeyComesBack) {
  const size_t size = engine().limits().max_key_bytes + Limits::kKeyAllowance;
  const Bytes one = RandomBytes(size, 1);
  Bytes other = one;  // differs in the last byte only
  other.back() = static_cast<char>(other.back() ^ 1);
  Put(one, "1");
  Put(other, "2");
  EXPECT_EQ(Values({one, other}), (Strings{"1", "2"}));
  EXPECT_EQ(Entries(*NewView()).size(), 2u);
}

TEST_P(GetTest, KeysAreAnyBytes) {
  const std::vector<Bytes> keys = {Bytes(1, '\0'),     Bytes(2, '\0'),       Bytes("\0a", 2),  Bytes("a"),
                                   Bytes("a\0", 2),    Bytes("a\0\0", 3),    Bytes("a\0b", 3), Bytes("a\xff"),
                                   Bytes("a\xff\xff"), Bytes("\xfe"),        Bytes("\xff"),    Bytes("\xff\0", 2),
                                   Bytes("\xff\xff"),  Bytes("\xff\xff\xff")};
  for (size_t i = 0; i < keys.size(); ++i) Put(keys[i], std::to_string(i));
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(Value(keys[i]), std::to_string(i));
  EXPECT_EQ(KeysOf(Entries(*NewView())), keys);  // they were listed in byte order
  Erase(keys[4]);
  EXPECT_EQ(Value(keys[3]), "3");
  EXPECT_EQ(Value(keys[4]), "absent");
  EXPECT_EQ(Value(keys[5]), "5");
}

TEST_P(GetTest, ValuesAreAnyBytes) {
  Bytes all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  Put("k", all);
  EXPECT_EQ(Value("k"), all);
}

TEST_P(GetTest, ValuesOfAllSizesComeBack) {
  durability_ = Durability::kNone;
  std::vector<size_t> sizes;
  for (size_t size = 1; size <= 1 << 20; size *= 2) {
    for (const size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  }
  for (const size_t size : sizes) Put("k" + std::to_string(size), RandomBytes(size, size));
  for (const size_t size : sizes) {
    EXPECT_TRUE(Value("k" + std::to_string(size)) == RandomBytes(size, size)) << size;
  }
}

TEST_P(GetTest, TheWholeHeaderComesBack) {
  Mutation put = Mutation::Put("k", "v", In(Duration::Seconds(9)));
  put.kind = ValueKind::kEnvelope;
  put.owned = true;
  put.schema = 0xdeadbeef;
  const Version version = Must({put});
  const auto record = Find("k");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->header.version, version);
  EXPECT_EQ(record->header.expiry, put.expiry);
  EXPECT_EQ(record->header.kind, ValueKind::kEnvelope);
  EXPECT_TRUE(record->header.owned);
  EXPECT_EQ(record->header.schema, 0xdeadbeef);
  EXPECT_EQ(record->header.marks, CounterMarks());
  EXPECT_EQ(Entries(*NewView()).at(0).header, record->header);
  Put("k", "v");  // nothing of it is inherited
  EXPECT_EQ(Find("k")->header.expiry, kNever);
  EXPECT_EQ(Find("k")->header.kind, ValueKind::kBytes);
  EXPECT_FALSE(Find("k")->header.owned);
  EXPECT_EQ(Find("k")->header.schema, 0u);
}

TEST_P(GetTest, CostCountsKeysAndWhatCameBack) {
  Must({Mutation::Put("aa", "123"), Mutation::Put("b", "")});
  ReadCost cost;
  cost.keys = 100;
  Values({"aa", "b", "missing", "aa"}, &cost);
  EXPECT_EQ(cost.keys, 104u);  // added to what was there
  EXPECT_EQ(cost.bytes, 5u + 1u + 5u);
  EXPECT_EQ(cost.skipped, 0u);
}

TEST_P(GetTest, SeesTheNewestAfterEveryKindOfWrite) {
  durability_ = Durability::kNone;
  // The same key again and again, so that whatever caches it must keep up.
  for (int i = 0; i < 10; ++i) {
    Put("k", "1");
    EXPECT_EQ(Value("k"), "1");
    EXPECT_EQ(Value("k"), "1");
    Put("k", "2");
    EXPECT_EQ(Value("k"), "2");
    Erase("k");
    EXPECT_EQ(Value("k"), "absent");
    EXPECT_EQ(Value("k"), "absent");
    Add("k", 7);
    EXPECT_EQ(Number("k"), 7);
    Add("k", 7);
    EXPECT_EQ(Number("k"), 14);
    Must({Mutation::EraseRange("a", "z")});
    EXPECT_EQ(Value("k"), "absent");
  }
}

TEST_P(GetTest, SeesTheLastOfSeveralWritesInOneCommitHoweverHotTheKey) {
  durability_ = Durability::kNone;
  const Mutation put = Mutation::Put("k", "put");
  const Mutation erase = Mutation::Erase("k");
  const Mutation erase_range = Mutation::EraseRange("a", "z");
  const auto value_after = [&](std::vector<Mutation> mutations) {
    Put("k", "before");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Value("k"), "before");
    Must(std::move(mutations));
    const std::string value = Value("k");
    EXPECT_EQ(Value(*NewView(), "k"), value);
    EXPECT_EQ(Value("k"), value);
    return value;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(value_after({put, erase_range}), "absent");
    EXPECT_EQ(value_after({put, erase}), "absent");
    EXPECT_EQ(value_after({erase_range, put}), "put");
    EXPECT_EQ(value_after({erase, put}), "put");
    EXPECT_EQ(value_after({put, erase_range, put}), "put");
    EXPECT_EQ(value_after({erase, Mutation::Add("k", 1), erase_range}), "absent");
    EXPECT_EQ(value_after({erase_range, Mutation::Add("k", 1)}), CounterValue(1));
    EXPECT_EQ(value_after({put, erase_range, Mutation::Add("k", 2)}), CounterValue(2));
  }
}

}  // namespace
}  // namespace kvarts::test
