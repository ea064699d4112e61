#include "collect/record/texts.h"

namespace assay::record {

// Includes list nodes and two table entries.
size_t Texts::cost(std::string_view value) { return value.size() + 192; }

uint32_t Texts::hold(std::string_view value) {
  value = value.substr(0, wire::kMaxText);
  if (value.empty()) return wire::kNoString;
  const auto known = by_value_.find(value);
  if (known != by_value_.end()) {
    const Place text = known->second;
    if (text->uses++ == 0) used_.splice(used_.end(), idle_, text);
    return text->id;
  }
  while (bytes_ + cost(value) > most_bytes_ && !idle_.empty()) forget_oldest();
  if (bytes_ + cost(value) > most_bytes_) return kLostText;
  uint32_t id = 0;
  if (free_ids_.empty()) {
    if (next_id_ >= kLostText - kHostTextBit) return kLostText;
    id = next_id_++ | kHostTextBit;
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  const Place text = used_.insert(used_.end(), {std::string(value), id, 1, false});
  by_value_.emplace(text->value, text);
  by_id_.emplace(id, text);
  bytes_ += cost(value);
  return id;
}

void Texts::release(uint32_t id) {
  const auto known = by_id_.find(id);
  if (known == by_id_.end()) return;
  const Place text = known->second;
  if (--text->uses == 0) idle_.splice(idle_.end(), used_, text);
}

void Texts::write(uint32_t id) {
  const auto known = by_id_.find(id);
  if (known == by_id_.end() || known->second->is_written) return;
  known->second->is_written = true;
  definitions_.emplace_back(id, known->second->value);
  waiting_bytes_ += cost(known->second->value);
}

std::vector<Texts::Definition> Texts::fetch() {
  waiting_bytes_ = 0;
  return std::exchange(definitions_, {});
}

void Texts::forget_oldest() {
  const Place text = idle_.begin();
  bytes_ -= cost(text->value);
  if (!text->is_written) free_ids_.push_back(text->id);
  by_value_.erase(text->value);
  by_id_.erase(text->id);
  idle_.pop_front();
  ++forgotten_;
}

}  // namespace assay::record
