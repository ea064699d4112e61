#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace assay::testing {

// A path for a file of the running test alone: tests run side by side, and so do whole suites.
inline std::string scratch_path(const std::string& ending) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "_" + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  return ::testing::TempDir() + "assay_" + name + "_" + std::to_string(::getpid()) + ending;
}

// The same, removed in the end with what is in it.
struct Scratch {
  explicit Scratch(const std::string& ending) : path(scratch_path(ending)) {}
  ~Scratch() { std::filesystem::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string path;
};

// A folder of the running test's own, empty at first.
struct ScratchFolder : Scratch {
  ScratchFolder() : Scratch("_folder") {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  std::string file(const std::string& name) const { return path + "/" + name; }
};

}  // namespace assay::testing
