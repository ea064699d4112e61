#pragma once

// Texts that a packet sequence sends once and refers to by number afterwards (interned_data.proto).

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay {

// Values by their number. Numbers count up from 1 in most files; any other number is kept too.
template <typename T>
class Interned {
 public:
  void set(uint64_t number, T value) {
    if (number >= kMostDense) {
      sparse_[number] = std::move(value);
      return;
    }
    if (number >= dense_.size()) dense_.resize(static_cast<size_t>(number) + 1);
    dense_[static_cast<size_t>(number)] = {std::move(value), true};
  }
  const T* find(uint64_t number) const {
    if (number < dense_.size()) {
      const auto& [value, known] = dense_[static_cast<size_t>(number)];
      return known ? &value : nullptr;
    }
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  void clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  static constexpr uint64_t kMostDense = 4096;
  std::vector<std::pair<T, bool>> dense_;
  std::unordered_map<uint64_t, T> sparse_;
};

}  // namespace assay
