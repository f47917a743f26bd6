// A PostgreSQL server of its own for a test that other transactions would disturb, of whatever database of the one that
// all share: as one in which rows are collected that just died. What is opened while it is there is on it. The tests of
// a process, one after the other, have the same.
#pragma once

#include <cstdlib>
#include <string>

#include "support/local_cluster.h"
#include "support/postgres_database.h"

namespace kvarts::test {

class OwnServer {
 public:
  OwnServer() : shared_(std::getenv(kName)) {
    static const LocalCluster cluster(0);
    setenv(kName, cluster.targets().front().c_str(), 1);
  }
  ~OwnServer() { setenv(kName, shared_.c_str(), 1); }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

 private:
  static constexpr const char* kName = "KVARTS_TEST_POSTGRES";
  const std::string shared_;
};

}  // namespace kvarts::test
