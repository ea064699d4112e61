#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "ingest/bench/table.h"
#include "support/scratch.h"

namespace assay::testing {

// Reads benchmark results from a file of this test's own.
class BenchFile : public ::testing::Test {
 protected:
  ~BenchFile() override { std::remove(path_.c_str()); }

  Result<BenchTable> read(const std::string& text, const std::vector<std::string>& maps = {},
                          const std::vector<std::string>& metas = {}) {
    std::ofstream(path_, std::ios::binary) << text;
    auto options = parse_bench_options(maps, metas);
    if (!options) return options.take_error();
    return read_bench_table(path_, *options);
  }

  static const BenchOddity* find(const BenchTable& table, const std::string& code) {
    for (const BenchOddity& oddity : table.oddities) {
      if (oddity.code == code) return &oddity;
    }
    return nullptr;
  }

  static uint64_t count(const BenchTable& table, const std::string& code) {
    const BenchOddity* oddity = find(table, code);
    return oddity == nullptr ? 0 : oddity->rows;
  }

 private:
  std::string path_ = scratch_path("");
};

}  // namespace assay::testing
