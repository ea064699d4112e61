#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace assay::testing {

// A path for a file of the running test alone: tests run side by side, and so do whole suites.
inline std::string scratch_path(const std::string& ending) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  return ::testing::TempDir() + "assay_" + name + "_" + std::to_string(::getpid()) + ending;
}

}  // namespace assay::testing
