#include "engine/rocksdb/upgrade.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/rocksdb/rocks_engine.h"
#include "support/temp_dir.h"

namespace kvarts {
namespace {

Status Open(const std::string& dir, bool upgrade = false) {
  RocksOptions options;
  options.memory_budget = 16 << 20;
  options.upgrade = upgrade;
  const auto engine = OpenRocksEngine(dir, options);
  return engine.has_value() ? Status{} : engine.error();
}

Status Restamp(const std::string& dir, int format) {
  KVARTS_TRY(DataDirectory directory, DataDirectory::Open(dir, false, {}));
  Stamp stamp = directory.stamp();
  stamp.format = format;
  return directory.Restamp(stamp);
}

TEST(UpgradeTest, AStampBesideSomebodyElsesDataIsNoticed) {
  const test::TempDir dir;
  ASSERT_TRUE(Open(dir / "a").has_value());
  ASSERT_TRUE(Open(dir / "b").has_value());
  std::filesystem::rename(dir / "a/data", dir / "data");
  std::filesystem::rename(dir / "b/data", dir / "a/data");
  const Status mixed = Open(dir / "a");
  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error().code(), ErrorCode::kCorruption);
}

TEST(UpgradeTest, AnUnknownFormatIsRefusedWhateverIsAsked) {
  const test::TempDir dir;
  ASSERT_TRUE(Open(dir / "a").has_value());
  for (const int format : {kFormatVersion + 1, kFormatVersion - 2}) {
    if (format < 1) continue;
    ASSERT_TRUE(Restamp(dir / "a", format).has_value());
    for (const bool upgrade : {false, true}) {
      const Status refused = Open(dir / "a", upgrade);
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(refused.error().field("format"), std::to_string(format));
    }
  }
}

TEST(UpgradeTest, IsDoneAgainWhenItWasCutOffBeforeTheStamp) {
  const test::TempDir dir;
  ASSERT_TRUE(Open(dir / "a").has_value());
  ASSERT_TRUE(Restamp(dir / "a", kFormatVersion - 1).has_value());
  EXPECT_FALSE(Open(dir / "a").has_value());
  EXPECT_TRUE(Open(dir / "a", true).has_value());
  EXPECT_TRUE(Open(dir / "a").has_value());
}

}  // namespace
}  // namespace kvarts
