#pragma once

// Classification of the kernels of one trace: each distinct name is classified once, and rows use
// their name's id.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/string_pool.h"
#include "kernels/book.h"
#include "kernels/kernel.h"

namespace assay {

class KernelNames {
 public:
  // names: of all activities; may contain repeats and kNone.
  KernelNames(const StringPool& strings, std::span<const StringId> names,
              std::shared_ptr<const KernelBook> book);

  // The entry of a name; those of an unknown kernel if it was not in `names`.
  const KernelFacts& of(StringId name) const {
    return facts_[name.index() < place_.size() && name ? place_[name.index()] : 0];
  }
  const KernelBook& book() const { return *book_; }
  const std::shared_ptr<const KernelBook>& shared_book() const { return book_; }

 private:
  std::shared_ptr<const KernelBook> book_;
  std::vector<KernelFacts> facts_;  // the first: unknown
  std::vector<uint32_t> place_;     // by name's id, into facts_
};

// `given`, or if it is null the built-in classification of `names`.
std::shared_ptr<const KernelNames> given_or_built_in(std::shared_ptr<const KernelNames> given,
                                                     const StringPool& strings,
                                                     std::span<const StringId> names);

// The share of a trace that rests on guesses, and the share without a classification.
class KernelTally {
 public:
  void add(StringId name, const KernelFacts& facts, int64_t dur_ns);

  struct Part {
    uint64_t names = 0;
    uint64_t kernels = 0;
    int64_t dur_ns = 0;
  };
  const Part& guessed() const { return guessed_; }
  const Part& untold() const { return untold_; }
  // One sentence each, for caveats.
  std::string guessed_text() const;
  std::string untold_text() const;

 private:
  std::vector<bool> seen_;
  Part guessed_;
  Part untold_;
};

}  // namespace assay
