// A view: a transaction that reads, with the snapshot of its first statement, on a connection of its own.
#pragma once

#include "engine/postgres/shared.h"
#include "engine/view.h"

namespace kvarts::postgres {

// Begins the transaction on a connection, whose owner ends it.
struct OpenedView {
  Version version;
  Timestamp time;
  std::string snapshot;  // behind the life of the server and a slash
};
Result<OpenedView> BeginView(Connection& connection, Shared& shared);
// The same on a replica. Nothing when it has not replayed as much as the session has seen. What is read there never
// becomes a precondition: its snapshot means nothing to the primary.
Result<std::optional<OpenedView>> BeginReplicaView(Connection& connection, Shared& shared, const SessionToken& session);
void EndView(Connection& connection, Shared& shared);

class PgView final : public View {
 public:
  enum class On : uint8_t { kPrimary, kReplica };
  PgView(Shared& shared, Pool::Lease connection, const OpenedView& opened, Timestamp now, On on);
  ~PgView() override;

  Version version() const override { return opened_.version; }
  Timestamp time() const override { return opened_.time; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  Result<ScanPage> Scan(const ScanRequest& request) override;

 private:
  Status CheckAge() const;
  Error Failed(const Error& error) const;

  Shared& shared_;
  Pool::Lease connection_;
  const OpenedView opened_;
  const Timestamp began_;
  const On on_;
};

// What a submission is run with: the locks are held, and only so much may be read.
class RunView final : public View {
 public:
  RunView(Shared& shared, Connection& connection, const OpenedView& opened);

  Version version() const override { return opened_.version; }
  Timestamp time() const override { return opened_.time; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  Result<ScanPage> Scan(const ScanRequest& request) override;

 private:
  Status Spend(uint64_t keys);

  Shared& shared_;
  Connection& connection_;
  const OpenedView opened_;
  const Timestamp began_;
  uint64_t spent_ = 0;
};

}  // namespace kvarts::postgres
