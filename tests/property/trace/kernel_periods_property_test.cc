#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/random.h"
#include "trace/kernel_periods.h"

namespace assay {
namespace {

// A model at random: stacks of layers, each with an attention, products and other kernels, between
// an embedding and a head, all with names of their own or, in part, with names that they share.
class Model {
 public:
  explicit Model(Dice& random) : random_(random) {
    const int64_t stacks = 1 + random_.below(3);
    for (int64_t s = 0; s < stacks; ++s) {
      Stack stack;
      stack.layers = 3 + static_cast<size_t>(random_.below(30));
      const int64_t plain = 3 + random_.below(12);
      stack.units.push_back({fresh(), WorkRole::kHeavy});
      for (int64_t k = 0; k < plain; ++k) stack.units.push_back({name(), WorkRole::kPlain});
      stack.units.push_back({fresh(), WorkRole::kAttention});
      stack.units.push_back({fresh(), WorkRole::kHeavy});
      stacks_.push_back(stack);
    }
    for (int64_t k = 0, n = 1 + random_.below(4); k < n; ++k) {
      before_.push_back({fresh(), WorkRole::kPlain});
    }
    for (int64_t k = 0, n = 1 + random_.below(6); k < n; ++k) {
      behind_.push_back({name(), WorkRole::kPlain});
    }
    behind_.push_back({fresh(), WorkRole::kHeavy});
    for (int64_t k = 0, n = random_.below(4); k < n; ++k)
      behind_.push_back({fresh(), WorkRole::kPlain});
  }

  void run(std::vector<SequenceItem>& to) const {
    bool first = true;
    const auto add = [&](const std::vector<Unit>& units) {
      for (const Unit& unit : units) {
        to.push_back({unit.token, unit.role, true, first ? 100'000 : 500});
        first = false;
      }
    };
    add(before_);
    for (const Stack& stack : stacks_) {
      for (size_t l = 0; l < stack.layers; ++l) add(stack.units);
    }
    add(behind_);
  }
  void add_other(std::vector<SequenceItem>& to, int64_t n) {
    for (int64_t k = 0; k < n; ++k) to.push_back({name(), WorkRole::kPlain, true, 700});
  }

 private:
  struct Unit {
    uint32_t token = 0;
    WorkRole role = WorkRole::kPlain;
  };
  struct Stack {
    std::vector<Unit> units;
    size_t layers = 0;
  };
  uint32_t fresh() { return next_++; }
  // One of a few names that everything shares, or a fresh one.
  uint32_t name() {
    return random_.below(2) == 0 ? static_cast<uint32_t>(random_.below(kShared)) : fresh();
  }

  static constexpr uint32_t kShared = 5;
  Dice& random_;
  uint32_t next_ = kShared;
  std::vector<Stack> stacks_;
  std::vector<Unit> before_;
  std::vector<Unit> behind_;
};

TEST(KernelPeriodsProperty, OnePassIsNotAnIteration) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Dice random(seed);
    Model model(random);
    std::vector<SequenceItem> items;
    model.run(items);
    EXPECT_FALSE(find_periods(items)) << "seed " << seed;
  }
}

TEST(KernelPeriodsProperty, PassesAreFoundWithWhatIsBetweenThem) {
  size_t found_of = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Dice random(seed);
    Model model(random);
    std::vector<SequenceItem> items;
    model.add_other(items, random.below(40));
    std::vector<size_t> begins;
    const size_t passes = 3 + static_cast<size_t>(random.below(20));
    for (size_t pass = 0; pass < passes; ++pass) {
      begins.push_back(items.size());
      model.run(items);
      if (random.below(6) == 0) model.add_other(items, 1 + random.below(3));
    }
    const auto found = find_periods(items);
    if (!found) continue;
    ++found_of;
    ASSERT_EQ(found->periods.size(), passes) << "seed " << seed;
    for (size_t k = 0; k < passes; ++k) {
      EXPECT_EQ(found->periods[k].begin, begins[k]) << "seed " << seed;
    }
  }
  EXPECT_GE(found_of, 370u) << found_of;
}

}  // namespace
}  // namespace assay
