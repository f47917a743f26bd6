#include "net/address.h"

#include <gtest/gtest.h>

namespace kvarts::net {
namespace {

TEST(AddressTest, IsWrittenAsItIsRead) {
  for (const char* text : {"127.0.0.1:7700", "0.0.0.0:0", "[::1]:65535", "[::]:1", "unix:/run/kvarts.sock"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address) << address.error();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseAddress("localhost:7700")->ToString(), "127.0.0.1:7700");
}

TEST(AddressTest, RefusesWhatIsNone) {
  for (const std::string text : {"",
                                 "7700",
                                 ":7700",
                                 "127.0.0.1",
                                 "127.0.0.1:",
                                 "127.0.0.1:65536",
                                 "127.0.0.1:-1",
                                 "127.0.0.1:1x",
                                 "127.1:80",
                                 "256.0.0.1:1",
                                 "::1:7700",
                                 "[::1]",
                                 "[127.0.0.1]:1",
                                 "[::1:7700",
                                 "[]:1",
                                 "example.org:80",
                                 "*:80",
                                 "unix:",
                                 "unix:relative",
                                 " 127.0.0.1:1",
                                 "http://127.0.0.1:1"}) {
    EXPECT_FALSE(ParseAddress(text)) << text;
    EXPECT_FALSE(IsLoopback(text)) << text;
  }
}

TEST(AddressTest, PathsOfSocketsAreBounded) {
  EXPECT_TRUE(ParseAddress("unix:/" + std::string(106, 'a')));
  EXPECT_FALSE(ParseAddress("unix:/" + std::string(107, 'a')));
  EXPECT_FALSE(ParseAddress(std::string("unix:/a\0b", 9)));
}

TEST(AddressTest, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const char* text :
       {"127.0.0.1:1", "127.255.255.254:1", "localhost:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "unix:/run/k"}) {
    EXPECT_TRUE(IsLoopback(text)) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "128.0.0.1:1", "126.255.255.255:1", "192.168.1.1:1", "[::2]:1",
                           "[::ffff:10.0.0.1]:1", "[::ffff:0.0.0.0]:1", "[fe80::1]:1"}) {
    EXPECT_FALSE(IsLoopback(text)) << text;
  }
}

}  // namespace
}  // namespace kvarts::net
