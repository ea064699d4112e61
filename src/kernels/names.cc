#include "kernels/names.h"

#include <utility>

namespace assay {

KernelNames::KernelNames(const StringPool& strings, std::span<const StringId> names,
                         std::shared_ptr<const KernelBook> book)
    : book_(std::move(book)), facts_(1), place_(strings.size(), 0) {
  facts_[0] = book_->classify("");
  for (const StringId name : names) {
    if (!name || place_[name.index()] != 0) continue;
    place_[name.index()] = static_cast<uint32_t>(facts_.size());
    facts_.push_back(book_->classify(strings.view(name)));
  }
}

std::shared_ptr<const KernelNames> given_or_built_in(std::shared_ptr<const KernelNames> given,
                                                     const StringPool& strings,
                                                     std::span<const StringId> names) {
  if (given != nullptr) return given;
  return std::make_shared<const KernelNames>(strings, names, KernelBook::built_in());
}

void KernelTally::add(StringId name, const KernelFacts& facts, int64_t dur_ns) {
  if (facts.found == FoundBy::kRow) return;
  Part& part = facts.found == FoundBy::kGuess ? guessed_ : untold_;
  if (name.index() >= seen_.size()) seen_.resize(name.index() + 1);
  if (!seen_[name.index()]) ++part.names;
  seen_[name.index()] = true;
  ++part.kernels;
  part.dur_ns += dur_ns;
}

std::string KernelTally::guessed_text() const {
  return std::to_string(guessed_.names) +
         " kernel names of unknown origin were filed by a word in them; --kernels FILE says what "
         "they are (docs/formats/kernels.md)";
}

std::string KernelTally::untold_text() const {
  return std::to_string(untold_.names) +
         " kernel names match no rule and count as \"other\"; --kernels FILE adds rules "
         "(docs/formats/kernels.md)";
}

}  // namespace assay
