#include "engine/postgres/commit_queue.h"

#include <gtest/gtest.h>

#include "support/commits.h"

namespace kvarts::postgres {
namespace {

constexpr CommitQueue::Room kRoom{3, 100, 1'000'000};

void Add(CommitQueue& queue, const std::string& key, Durability durability, int copies = 1) {
  CommitQueue::Submissions batch;
  size_t bytes = 0;
  for (int i = 0; i < copies; ++i) {
    batch.push_back(std::make_unique<test::TestSubmission>(test::MakeCommit({Mutation::Put(key, "")})));
    batch.back()->commit.durability = durability;
    bytes += CommitBytes(batch.back()->commit);
  }
  queue.Add(std::move(batch), bytes);
}

std::string KeysOf(const CommitQueue::Taken& taken) {
  std::string keys;
  for (const auto& submission : taken.batch) keys += submission->commit.mutations.front().key;
  return keys;
}

TEST(CommitQueueTest, WhatAsksForTheSameIsTakenTogetherInTheOrderOfItsComing) {
  CommitQueue queue(3);
  Add(queue, "a", Durability::kSync);
  Add(queue, "b", Durability::kQuorum);
  Add(queue, "c", Durability::kSync);
  Add(queue, "d", Durability::kNone);
  Add(queue, "e", Durability::kQuorum, 3);
  EXPECT_EQ(queue.size(), 7u);
  EXPECT_EQ(queue.takeable(), 7u);
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "ac");
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "b") << "there is no room for all behind it, and they stay together";
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "d");
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "eee");
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(CommitQueueTest, OneThreadIsLeftToThoseWhoDoNotWaitForReplicas) {
  CommitQueue queue(2);
  Add(queue, "a", Durability::kQuorum);
  const auto first = queue.Take(kRoom);
  Add(queue, "b", Durability::kApplied);
  EXPECT_EQ(queue.takeable(), 0u);
  EXPECT_EQ(queue.size(), 1u);
  Add(queue, "c", Durability::kSync);
  EXPECT_EQ(queue.takeable(), 1u);
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "c");
  EXPECT_EQ(queue.takeable(), 0u);
  queue.Done(first);
  EXPECT_EQ(queue.takeable(), 1u);
  EXPECT_EQ(KeysOf(queue.Take(kRoom)), "b");
}

TEST(CommitQueueTest, WhereThereIsOnlyOneItTakesAll) {
  CommitQueue queue(1);
  Add(queue, "a", Durability::kQuorum);
  queue.Done(queue.Take(kRoom));
  Add(queue, "b", Durability::kQuorum);
  EXPECT_EQ(queue.takeable(), 1u);
}

}  // namespace
}  // namespace kvarts::postgres
