#pragma once

// Ways of holding out rows, each for a question that a user may have. Folds come from a hash of
// names, so they are the same on every machine and in every language.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "throughput/method.h"

namespace assay {

uint64_t fnv1a64(std::string_view bytes);
// MurmurHash3's 64-bit finaliser.
uint64_t fmix64(uint64_t h);

constexpr uint64_t kFolds = 5;
inline uint64_t fold_of(std::string_view name) { return fmix64(fnv1a64(name)) % kFolds; }

struct SplitFold {
  std::string name;           // "0" ... "4", the model or hardware held out, ...
  std::vector<size_t> train;  // indices of rows, ascending
  std::vector<size_t> test;
};

struct Split {
  std::string name;   // "S1"
  std::string label;  // "unseen length pair"
  HeldOut held_out = HeldOut::kRow;
  std::vector<SplitFold> folds;  // without those that lack train or test rows
};

// The splits:
// - S1 new group
// - S2 random rows
// - S3 batch <= 32 -> >= 64
// - S4 lengths <= 512 -> >= 1024 (both lengths)
// - S5 new configuration
// - S6 leave one model out
// - S7 leave one hardware out
//
// A split that the data do not support (one model only, no large batches) has no folds.
std::vector<Split> make_splits(const ThroughputData& data);
// Four shapes of a training set, each tested on all other rows (in the manner of ALA, Figure 6):
// - E1 every second batch size at every length, including the largest
// - E2 the larger half of the lengths and of the batch sizes, densely
// - E3 the smaller half of the batch sizes
// - E4 every second length and every third batch size
std::vector<Split> make_training_sets(const ThroughputData& data);
// S8: whole benchmark runs (bench_table.h) held out, in five folds by the hash of their names. It
// is separate because most tables are one benchmark run. Rows of another run under the same
// conditions cannot be identified, so its intervals are those of a new configuration.
Split campaign_split(const ThroughputData& data);
// One of S1 to S8 by name, ignoring case. Fails with the choices for any other name.
Result<Split> make_split(const ThroughputData& data, const std::string& name);

}  // namespace assay
