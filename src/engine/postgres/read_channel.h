// Reads of an event loop, on a connection of the loop's own that it watches: what is asked for in one of its turns
// leaves together, and the answers are taken and told when they arrive, without another thread. One flight is under way
// at a time; what is asked for meanwhile gathers for the next. That leaves when three quarters as many are there as
// there were when the last one was back, since those who are answered together mostly ask again together, or after a
// moment.
//
// The channel knows only the good way. While it has no connection, when the connection breaks, when the server turns
// out not to be the primary any more: what it was to read goes to the reader threads (reader.h), which wait, look for
// the primary and know what to say when there is none. Connections are made and closed by a thread of their own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "engine/postgres/reader.h"
#include "engine/postgres/servers.h"
#include "engine/postgres/shared.h"

namespace kvarts::postgres {

// Makes connections to the primary for those who cannot wait for them, and closes them. Safe from any thread.
class ChannelConnections {
 public:
  // One that was asked for.
  class Order {
   public:
    // Whether it was tried to make it; what came of it may be taken then, once. Empty: nothing.
    bool done() const { return done_.load(std::memory_order_acquire); }
    Pool::Lease Take() { return std::move(lease_); }

   private:
    friend class ChannelConnections;
    Pool::Lease lease_;
    std::atomic<bool> done_{false};
  };

  ChannelConnections(Shared& shared, Servers& servers);
  // Nobody has an order or a connection any more.
  ~ChannelConnections();

  std::shared_ptr<Order> Ask();
  void Close(Pool::Lease lease);

 private:
  void Loop();

  Shared& shared_;
  Servers& servers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Order>> asked_;
  std::vector<Pool::Lease> closing_;
  bool stopping_ = false;
  std::jthread thread_;
};

class PgReadChannel final : public ReadChannel {
 public:
  // `replica_reader` is null where there are no replicas. All outlive it.
  PgReadChannel(Shared& shared, ChannelConnections& connections, Reader& reader, Reader* replica_reader, Host& host)
      : shared_(shared), connections_(connections), reader_(reader), replica_reader_(replica_reader), host_(host) {}
  ~PgReadChannel() override;

  void Add(PendingGet& read) override;
  void Leave() override;
  void Ready() override;
  void Tick() override;

 private:
  static constexpr size_t kMaxTogether = 256;  // keys of one flight, unless one read asks for more by itself
  // Long enough for some of those who were just answered to ask again; a longer one leaves the server idle.
  static constexpr std::chrono::microseconds kMoment{50};
  static constexpr int kPauseTicks = 4;  // before a connection is asked for again

  using Reads = std::vector<PendingGet*>;
  struct Flight {
    Reads reads;
    Deadline deadline;
  };

  // Whether there is a connection to a server that is not known to be no primary. Asks for one.
  bool HasConnection();
  void Connect();
  // Whether it is not worth waiting for more.
  bool IsEnough();
  void Depart();
  // Takes what has landed.
  void Land();
  void Answer(const Reads& reads, Rows rows);
  void GiveToReaders(Reads reads);
  // Lets go of the connection; all that is under way or was to be goes to the readers.
  void GiveUp();
  void LetGo();

  Shared& shared_;
  ChannelConnections& connections_;
  Reader& reader_;
  Reader* const replica_reader_;
  Host& host_;
  Pool::Lease connection_;
  std::shared_ptr<ChannelConnections::Order> order_;
  int pause_ = 0;  // ticks
  Reads gathered_;
  std::deque<Flight> flights_;
  size_t expected_ = 0;               // reads, by how many there were when the last flight was back
  std::optional<Deadline> leave_by_;  // while it is waited for them
  std::vector<BytesView> keys_;       // of a flight that is being made
};

}  // namespace kvarts::postgres
