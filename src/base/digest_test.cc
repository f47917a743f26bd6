// Digests and seals are those that the standards say, and random bytes differ.
#include "base/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace kvarts {
namespace {

std::string Sha(BytesView bytes) { return ToHex(Sha256(bytes).view()); }
std::string Seal(BytesView key, BytesView bytes) { return ToHex(HmacSha256(key, bytes).view()); }

TEST(DigestTest, Sha256IsTheStandards) {
  // FIPS 180-4.
  EXPECT_EQ(Sha(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha(Bytes(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(DigestTest, HmacSha256IsTheStandards) {
  // RFC 4231, cases 1, 2, 3 and 6.
  EXPECT_EQ(Seal(Bytes(20, '\x0b'), "Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Seal("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Seal(Bytes(20, '\xaa'), Bytes(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(Seal(Bytes(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DigestTest, AnEmptyKeyIsAKeyAndNotTheOneBefore) {
  EXPECT_EQ(Seal("", ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  EXPECT_EQ(Seal("k", ""), Seal("k", ""));
  EXPECT_EQ(Seal({}, ""), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(DigestTest, PartsAreSealedAsOne) {
  EXPECT_EQ(HmacSha256("k", {"ab", "", "c"}), HmacSha256("k", "abc"));
  EXPECT_EQ(HmacSha256("k", {}), HmacSha256("k", ""));
  EXPECT_FALSE(HmacSha256("k", "abc") == HmacSha256("l", "abc"));
}

TEST(DigestTest, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&count] {
      for (int i = 0; i < 2000; ++i) {
        const Bytes text = std::to_string(i);
        count += Sha256(text) == Sha256(text) ? 0 : 1;
        count += HmacSha256(text, "a") == HmacSha256(text, "b") ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(DigestTest, SecretsAreEqualWhenEveryByteIs) {
  EXPECT_TRUE(EqualSecret("", ""));
  EXPECT_TRUE(EqualSecret({}, ""));
  EXPECT_TRUE(EqualSecret(Bytes("a\0b", 3), Bytes("a\0b", 3)));
  EXPECT_FALSE(EqualSecret(Bytes("a\0b", 3), Bytes("a\0c", 3)));
  EXPECT_FALSE(EqualSecret("a", "ab"));
  EXPECT_FALSE(EqualSecret("", "a"));
}

TEST(DigestTest, RandomBytesAreAsManyAsAskedForAndDiffer) {
  for (const size_t size : {0, 1, 31, 32, 256, 257, 1000}) EXPECT_EQ(RandomBytes(size).size(), size);
  std::set<Bytes> seen;
  for (int i = 0; i < 100; ++i) seen.insert(RandomBytes(32));
  EXPECT_EQ(seen.size(), 100u);
  // Beyond what the system gives at once as well.
  const Bytes much = RandomBytes(1000);
  EXPECT_NE(much.substr(0, 256), much.substr(256, 256));
  EXPECT_NE(much.substr(744), Bytes(256, '\0'));
}

}  // namespace
}  // namespace kvarts
