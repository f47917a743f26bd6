// Connections that others reach, in one process: what is pushed from several threads while they come, go, and are
// looked at and ended. Where a message may not be told, and what is told of it, tests/redis has with the real binary.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "engine/memory/memory_engine.h"
#include "protocol/resp/client_facts.h"
#include "protocol/resp/connection.h"
#include "support/eventually.h"
#include "support/resp_client.h"

namespace kvarts::resp {
namespace {

using test::Eventually;
using test::RespClient;

class TextMessage final : public Message {
 public:
  TextMessage(Service& service, std::string text)
      : Message(service.message_bytes, text.size()), text_(std::move(text)) {}
  void Write(ReplyWriter& reply) const override { reply.Push(2).Bulk("told").Bulk(text_); }

 private:
  const std::string text_;
};

class PushTest : public ::testing::Test {
 protected:
  static constexpr size_t kLoops = 2;

  PushTest() {
    databases_ = structure::Databases::Open(*store_);
    service_.reset(new Service{*store_, *databases_, *tokens_, workers_, clock_, no_tokens_, RespOptions{},
                               std::make_unique<Acl>(*users_, *tokens_, no_tokens_)});
    for (size_t i = 0; i < kLoops; ++i) {
      loops_.push_back(std::make_unique<net::Loop>(i));
      service_->commits.push_back(std::make_unique<LoopCommits>(*loops_.back(), *store_));
    }
    protocol_ = std::make_unique<RespProtocol>(*service_);
    listener_ =
        std::make_unique<net::Listener>(loops_, std::vector<net::Protocol*>{protocol_.get()}, net::ListenerOptions{});
    service_->listener = listener_.get();
    EXPECT_TRUE(listener_->Listen(*net::ParseAddress("127.0.0.1:0")).has_value());
    address_ = listener_->addresses().at(0);
    for (const auto& loop : loops_) threads_.emplace_back([&loop = *loop] { loop.Run(); });
  }
  ~PushTest() override {
    listener_->Stop();
    for (const auto& loop : loops_) loop->Stop();
    threads_.clear();
    for (const auto& loop : loops_) loop->AbortAll();
    service_->commits.clear();
    service_->clients.Stop();
    workers_.Stop();
    tokens_->Stop();
    users_->Stop();
    store_->Stop();
    listener_->Close();
    loops_.clear();
  }

  static uint64_t IdOf(RespClient& client) {
    return std::stoull(client.Call({"CLIENT", "ID"}).substr(std::string("(integer) ").size()));
  }
  bool Push(uint64_t id, const std::string& text) {
    return service_->clients.Push(id, std::make_shared<TextMessage>(*service_, text));
  }

  SystemClock clock_;
  const std::atomic<bool> no_tokens_{false};
  std::unique_ptr<Engine> engine_ = OpenMemoryEngine({});
  std::unique_ptr<Store> store_ = *Store::Open(*engine_);
  std::unique_ptr<Tokens> tokens_ = *Tokens::Open(*store_);
  std::unique_ptr<Users> users_ = *Users::Open(*store_);
  WorkerPool workers_{2, 1000};
  std::unique_ptr<structure::Databases> databases_;
  std::vector<std::unique_ptr<net::Loop>> loops_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<RespProtocol> protocol_;
  std::unique_ptr<net::Listener> listener_;
  std::string address_;
  std::vector<std::jthread> threads_;
};

TEST_F(PushTest, AClientIsToldByItsNumberInItsVersion) {
  RespClient two(address_);
  RespClient three(address_);
  three.Call({"HELLO", "3"});
  const auto message = std::make_shared<TextMessage>(*service_, "both");
  for (RespClient* client : {&two, &three}) EXPECT_TRUE(service_->clients.Push(IdOf(*client), message));
  EXPECT_EQ(two.Read(), R"(["told", "both"])");
  EXPECT_EQ(three.Read(), R"((push) ["told", "both"])");
  EXPECT_FALSE(Push(999, "nobody"));
}

TEST_F(PushTest, WhatWaitedIsLetGoWithTheClient) {
  auto deaf = std::make_unique<RespClient>(address_);
  const uint64_t id = IdOf(*deaf);
  const std::string large(1 << 20, 'm');
  for (int i = 0; i < 32; ++i) EXPECT_TRUE(Push(id, large));
  EXPECT_GT(service_->held_bytes.load(), 0U);
  EXPECT_GT(service_->message_bytes.now(), 0U);
  deaf.reset();
  EXPECT_TRUE(Eventually([&] { return service_->held_bytes.load() == 0; }));
  EXPECT_EQ(service_->message_bytes.now(), 0U);
  EXPECT_TRUE(Eventually([&] { return !Push(id, "gone"); }));
}

// From threads that belong to no loop, as those that commit: each in its order.
TEST_F(PushTest, EachThreadsMessagesComeInItsOrder) {
  constexpr int kThreads = 3;
  constexpr int kEach = 2000;
  RespClient client(address_);
  const uint64_t id = IdOf(client);
  std::vector<std::jthread> pushing;
  for (int thread = 0; thread < kThreads; ++thread) {
    pushing.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(Push(id, std::to_string(thread) + ":" + std::to_string(i)));
    });
  }
  std::array<int, kThreads> next{};
  int told = 0;
  int answered = 0;
  while (told < kThreads * kEach) {
    client.Send({"PING"});
    std::string line = client.Read();
    for (; line != "PONG"; line = client.Read()) {
      constexpr std::string_view kBegin = R"(["told", ")";
      ASSERT_TRUE(line.starts_with(kBegin)) << line;
      const auto thread = static_cast<size_t>(line[kBegin.size()] - '0');
      ASSERT_EQ(std::stoi(line.substr(kBegin.size() + 2)), next.at(thread)++);
      ++told;
    }
    ++answered;
  }
  EXPECT_GT(answered, 0);
}

TEST_F(PushTest, ClientsComeAndGoWhileTheyAreTold) {
  constexpr int kRounds = 60;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> others;
  others.emplace_back([&] {
    for (uint64_t i = 0; !stop; ++i) {
      service_->channels.Publish(std::to_string(i % 3), "m");
      Push(i % 200, "m");
    }
  });
  others.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      size_t seen = 0;
      const bool kills = i % 20 == 0;
      service_->clients.Visit(service_->clients.All(), [&](Client::Owner& client) {
        seen += client.Facts().id != 0 ? 1 : 0;
        if (kills && seen == 1) client.Kill(false);
      });
    }
  });
  others.emplace_back([&] {
    RespClient client(address_);
    try {
      for (int i = 0; !stop; ++i) {
        if (i % 10 == 0) client.Call({"CLIENT", "PAUSE", "1", "WRITE"});
        client.Call({"PUBSUB", "CHANNELS"});
        client.Call({"INFO", "clients"});
      }
    } catch (const std::runtime_error&) {
    }
  });
  {
    std::vector<std::jthread> coming;
    for (int thread = 0; thread < 2; ++thread) {
      coming.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          try {
            RespClient client(address_);
            client.Call({"HELLO", "3"});
            for (const char* name : {"0", "1"}) client.Send({"SUBSCRIBE", name});
            client.Send({"PSUBSCRIBE", "[12]"});
            client.Send({"SET", "k", "v"});
            client.Send({"BLPOP", "nothing", "0.001"});
            client.Send({"MULTI"});
            client.Send({"UNSUBSCRIBE", "0"});
            client.Send({"CLIENT", "INFO"});
            client.Send({"EXEC"});
            client.Send({"RESET"});
            while (client.Read() != "RESET") {
            }
          } catch (const std::runtime_error&) {
            // It was ended.
          }
        }
      });
    }
  }
  stop = true;
  others.clear();
  EXPECT_TRUE(Eventually([&] { return service_->clients.size() == 0; }));
  EXPECT_TRUE(Eventually([&] { return service_->held_bytes.load() == 0; }));
  EXPECT_EQ(service_->channels.Count(Listening::kChannel), 0U);
  EXPECT_EQ(service_->channels.Count(Listening::kPattern), 0U);
  EXPECT_EQ(service_->channels.clients(), 0);
}

}  // namespace
}  // namespace kvarts::resp
