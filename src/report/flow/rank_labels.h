#pragma once

// What ranks of a job and their own work are called in sentences and tables.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flow/job.h"

namespace assay {

constexpr size_t kRanksNamed = 8;         // of a list, the others by their number
constexpr size_t kRanksNamedBriefly = 4;  // on the first screen

// Ranks by the numbers that their traces tell, where all do and none twice, else by place.
class RankLabels {
 public:
  explicit RankLabels(const Job& job, size_t named = kRanksNamed);

  // Of a place in Job::ranks().
  int64_t number(uint32_t rank) const { return numbers_[rank]; }
  std::vector<int64_t> sorted(const std::vector<uint32_t>& ranks) const;
  // "0, 2 and 6", the first `named` of them.
  std::string list(const std::vector<uint32_t>& ranks) const;
  // "Rank 3", "Ranks 0, 2 and 6".
  std::string subject(const std::vector<uint32_t>& ranks) const;

 private:
  size_t named_;
  bool told_ = true;
  std::vector<int64_t> numbers_;
};

// A piece of own work as a sentence names it.
std::string shown_name(const WorkName& what);

}  // namespace assay
