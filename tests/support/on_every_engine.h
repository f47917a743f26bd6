// Suites that run on every engine there is: a fixture to derive from, whose parameter is the engine's kind, and
//
//   KVARTS_ON_EVERY_ENGINE(Suite);               the tests are called On/Suite.Case/memory and so on
//   KVARTS_ON_ENGINES_WITH(Suite, persistent);   only those of which EngineKind says so
//
// Where an engine needs what is not there, its tests are skipped, and say so.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/engines.h"
#include "support/environment.h"

namespace kvarts::test {

class OnEngineTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  // A test that is skipped in its constructor is not even set up.
  OnEngineTest() { SkipWithoutEngine(); }

 private:
  static void SkipWithoutEngine() {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
  }
};

// Names the tests of an engine after it.
inline std::string EngineName(const ::testing::TestParamInfo<EngineKind>& kind) { return kind.param.name; }

}  // namespace kvarts::test

// For a test that takes long and says little more on an engine that several processes share: KVARTS_LONG=1 runs it.
#define KVARTS_LONG_WHERE_SHARED() \
  if (GetParam().shared && !::kvarts::test::LongRun()) GTEST_SKIP() << "only in the long version on this engine"

#define KVARTS_ON_EVERY_ENGINE(Suite) \
  INSTANTIATE_TEST_SUITE_P(On, Suite, ::testing::ValuesIn(::kvarts::test::EngineKinds()), ::kvarts::test::EngineName)
#define KVARTS_ON_ENGINES_WITH(Suite, property)                                                               \
  INSTANTIATE_TEST_SUITE_P(                                                                                   \
      On, Suite, ::testing::ValuesIn(::kvarts::test::EngineKindsWith(&::kvarts::test::EngineKind::property)), \
      ::kvarts::test::EngineName)
