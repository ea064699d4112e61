#pragma once

// Names of a job's ranks and of their local compute in sentences and tables.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/job.h"

namespace assay {

constexpr size_t kRanksNamed = 8;         // of a list, the others by their number
constexpr size_t kRanksNamedBriefly = 4;  // on the first screen

// A rank is the number that its trace states, where no other trace states the same; else it goes by
// its file. Only where no trace states one do places in the list number them.
class RankLabels {
 public:
  explicit RankLabels(const Job& job, size_t named = kRanksNamed);

  // For a position in Job::ranks(). No number: the rank goes by its file.
  std::optional<int64_t> number(uint32_t rank) const { return numbers_[rank]; }
  // "3", or the name of a file.
  std::string label(uint32_t rank) const;
  // Labels of some ranks, those with a number first.
  std::vector<std::string> labels(std::vector<uint32_t> ranks) const;
  // True if the first rank precedes the second in lists: by number, then by file.
  bool before(uint32_t a, uint32_t b) const;
  // "0, 2 and 6", the first `named` of them.
  std::string list(const std::vector<uint32_t>& ranks) const;
  // "Rank 3", "Ranks 0, 2 and 6".
  std::string subject(const std::vector<uint32_t>& ranks) const;

 private:
  size_t named_;
  std::vector<std::optional<int64_t>> numbers_;
  std::vector<std::string> files_;
};

// A piece of own work as a sentence names it.
std::string shown_name(const WorkName& what);

}  // namespace assay
