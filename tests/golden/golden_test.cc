// A directory of every format that there ever was, kept as it was written then: each is opened, by an explicit upgrade
// if it is not of the current format, and everything that was written is there.
//
// A new format comes with its directory: build/release/golden DIR, then, without RocksDB's logs for people and its
// options,
//   tar --sort=name --owner=0 --group=0 --mtime=@0 --exclude='LOG*' --exclude='OPTIONS*' -C DIR -cf
//   tests/golden/format-N.tar .
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/rocks_engine.h"
#include "golden/golden_store.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

class GoldenTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const std::string archive =
        std::string(KVARTS_SOURCE_DIR) + "/tests/golden/format-" + std::to_string(GetParam()) + ".tar";
    const std::string unpack = "tar -xf '" + archive + "' -C '" + dir_.path().string() + "'";
    ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
  }
  Result<std::unique_ptr<Engine>> Open(bool upgrade) {
    RocksOptions options;
    options.clock = GoldenClock();
    options.create_if_missing = false;
    options.upgrade = upgrade;
    return OpenRocksEngine(dir_.path().string(), options);
  }
  bool IsCurrent() const { return GetParam() == kFormatVersion; }

  TempDir dir_;
};

TEST_P(GoldenTest, OpensAndHoldsWhatWasWritten) {
  {
    auto engine = Open(!IsCurrent());
    ASSERT_TRUE(engine.has_value()) << engine.error();
    ExpectGolden(**engine);
    EXPECT_TRUE((*engine)->VerifyFiles().empty());
  }
  auto again = Open(false);
  ASSERT_TRUE(again.has_value()) << "once upgraded it is of the current format: " << again.error();
  ExpectGolden(**again);
}

TEST_P(GoldenTest, AnOlderFormatIsNotTouchedWithoutBeingAsked) {
  if (IsCurrent()) GTEST_SKIP() << "the current format needs no upgrade";
  const auto refused = Open(false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().field("format"), std::to_string(GetParam()));
  auto engine = Open(true);
  ASSERT_TRUE(engine.has_value()) << engine.error();
  ExpectGolden(**engine);
}

INSTANTIATE_TEST_SUITE_P(Format, GoldenTest, testing::Range(1, kFormatVersion + 1));

}  // namespace
}  // namespace kvarts::test
