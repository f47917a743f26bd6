#include "encoding/key_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kvarts {
namespace {

bool IsInline(const KeyBuffer& buffer) {
  const auto* begin = reinterpret_cast<const char*>(&buffer);
  return buffer.data() >= begin && buffer.data() < begin + sizeof(buffer);
}

TEST(KeyBufferTest, IsInlineUpToItsCapacityAndThenOnTheHeap) {
  KeyBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  buffer.append(Bytes(KeyBuffer::kInlineCapacity, 'a'));
  EXPECT_TRUE(IsInline(buffer));
  buffer.push_back('b');
  EXPECT_FALSE(IsInline(buffer));
  EXPECT_EQ(buffer.view(), Bytes(KeyBuffer::kInlineCapacity, 'a') + "b");
}

TEST(KeyBufferTest, CopiesAndMovesShortAndLongKeys) {
  for (const size_t size : {size_t{3}, size_t{1000}}) {
    const Bytes bytes(size, 'x');
    KeyBuffer buffer(bytes);
    KeyBuffer copy(buffer);
    EXPECT_EQ(copy.view(), bytes);
    KeyBuffer moved(std::move(copy));
    EXPECT_EQ(moved.view(), bytes);
    KeyBuffer assigned(Bytes(500, 'y'));
    assigned = buffer;
    EXPECT_EQ(assigned.view(), bytes);
    assigned = KeyBuffer("z");
    EXPECT_EQ(assigned.view(), "z");
    assigned = std::move(moved);
    assigned.append("!");
    EXPECT_EQ(assigned.view(), bytes + "!");
    EXPECT_EQ(buffer.view(), bytes);
  }
}

TEST(KeyBufferTest, AMovedFromBufferIsEmptyAndUsable) {
  KeyBuffer buffer(Bytes(1000, 'x'));
  const KeyBuffer taken = std::move(buffer);
  EXPECT_TRUE(buffer.empty());  // NOLINT: that is the promise
  buffer.append(Bytes(200, 'y'));
  EXPECT_EQ(buffer.view(), Bytes(200, 'y'));
  EXPECT_EQ(taken.size(), 1000u);
}

TEST(KeyBufferTest, TruncateAndClearCutBack) {
  KeyBuffer buffer("abc");
  buffer.Truncate(2);
  EXPECT_EQ(buffer.view(), "ab");
  buffer.clear();
  EXPECT_EQ(buffer.view(), "");
}

RC_GTEST_PROP(KeyBufferTest, AppendsLikeAString, (const std::vector<Bytes>& parts)) {
  KeyBuffer buffer;
  Bytes expected;
  for (const Bytes& part : parts) {
    buffer.append(part);
    buffer.push_back('/');
    expected.append(part).push_back('/');
  }
  RC_ASSERT(buffer.view() == expected);
}

}  // namespace
}  // namespace kvarts
