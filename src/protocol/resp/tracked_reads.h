// TrackedReads: what a batch of commands of a client that tracks is about to read, from before it is read until the
// answers are written (tracking.h). For a client that does not track it is nothing.
#pragma once

#include "protocol/resp/batch.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {

class TrackedReads {
 public:
  // `whole`: the batch is what stands between MULTI and EXEC. `told`: set when the client is told something behind it.
  TrackedReads(Service& service, Session& session, Batch& batch, bool whole, bool* told)
      : service_(service), session_(session), told_(*told) {
    if (session.tracking) Begin(batch, whole);
  }
  ~TrackedReads() {
    if (began_ && service_.tracking.End(session_.id)) told_ = true;
  }
  TrackedReads(const TrackedReads&) = delete;
  TrackedReads& operator=(const TrackedReads&) = delete;

 private:
  void Begin(Batch& batch, bool whole);

  Service& service_;
  Session& session_;
  bool& told_;
  bool began_ = false;
};

}  // namespace kvarts::resp
