// Jobs in a store, for the tests of them and of who runs them.
#pragma once

#include <string>

#include "core/job.h"
#include "support/stores.h"

namespace kvarts::test {

class JobStoreTest : public StoreTest {
 protected:
  Jobs jobs() { return Jobs(store()); }
  JobId MustStart(const JobSpec& spec) {
    const auto id = jobs().Start(spec);
    EXPECT_TRUE(id) << id.error();
    return id ? *id : JobId{};
  }
  JobRecord MustGet(JobId id) {
    const auto job = jobs().Get(id);
    EXPECT_TRUE(job) << job.error();
    return job ? *job : JobRecord{};
  }
  std::string StateOf(JobId id) { return std::string(JobStateName(MustGet(id).state)); }
};

}  // namespace kvarts::test
