// docs/compat/redis.md says what is so. KVARTS_WRITE_PAGES=1 writes the part that follows from the tables anew.
#include "protocol/resp/compat_page.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "protocol/resp/command_docs.h"
#include "protocol/resp/command_table.h"
#include "support/files.h"

namespace kvarts::resp {
namespace {

constexpr const char* kPage = KVARTS_SOURCE_DIR "/docs/compat/redis.md";

TEST(CompatPageTest, ThePageIsUpToDate) {
  const std::string page = test::ReadBytes(kPage);
  const size_t begin = page.find(kCompatBegin);
  const size_t end = page.find(kCompatEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t from = begin + kCompatBegin.size();
  const std::string tables = "\n" + CompatTables() + "\n";
  if (std::getenv("KVARTS_WRITE_PAGES") != nullptr) {
    std::ofstream(kPage, std::ios::binary) << page.substr(0, from) << tables << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), tables)
      << "run KVARTS_WRITE_PAGES=1 protocol_resp_test --gtest_filter='CompatPage*'";
}

TEST(CompatPageTest, EveryCommandIsOnIt) {
  const std::string tables = CompatTables();
  for (const CommandDoc& doc : AllDocs()) {
    EXPECT_FALSE(doc.summary.empty()) << doc.name;
    EXPECT_TRUE(tables.contains(std::string(doc.summary))) << doc.name;
  }
  for (const Command& command : AllCommands()) EXPECT_NE(DocOf(command.name), nullptr) << command.name;
  for (const Command& sub : AllSubcommands()) {
    // What is there for tests of the server is told with its container.
    EXPECT_TRUE(sub.name.starts_with("debug|") || DocOf(sub.name) != nullptr) << sub.name;
  }
}

}  // namespace
}  // namespace kvarts::resp
