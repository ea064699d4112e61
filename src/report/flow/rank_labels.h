#pragma once

// Names of a job's ranks and of their local compute, for sentences and tables.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/job.h"

namespace assay {

constexpr size_t kRanksNamed = 8;  // longer lists end with the number of others

// A rank is named by the number that its trace states if that number is unique, else by its file.
// If no trace states a number, positions in the list are used.
class RankLabels {
 public:
  explicit RankLabels(const Job& job);

  // The number of a position in Job::ranks(). nullopt: the rank is named by its file.
  std::optional<int64_t> number(uint32_t rank) const { return numbers_[rank]; }
  // "3", or the name of a file.
  std::string label(uint32_t rank) const;
  // The labels of these ranks; numbered ones come first.
  std::vector<std::string> labels(std::vector<uint32_t> ranks) const;
  // True if the first rank precedes the second in lists: by number, then by file.
  bool before(uint32_t a, uint32_t b) const;
  // "0, 2 and 6"; at most kRanksNamed ranks.
  std::string list(const std::vector<uint32_t>& ranks) const;
  // "Rank 3", "Ranks 0, 2 and 6".
  std::string subject(const std::vector<uint32_t>& ranks) const;

 private:
  std::vector<std::optional<int64_t>> numbers_;
  std::vector<std::string> files_;
};

// The name of local compute as shown in a sentence.
std::string shown_name(const WorkName& what);

}  // namespace assay
