#include "text/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "text/catalogue.h"
#include "text/names.h"
#include "text/plain_text.h"
#include "text/rank_list.h"
#include "text/units.h"

namespace assay::text {
namespace {

using findings::Finding;
using findings::FindingWindow;
using findings::Quantity;

constexpr size_t kShortestName = 24;
constexpr size_t kRanksSaid = 4;

// "7.61 ms", "7.61 ms on 8 GPUs". Devices that are used for part of the run count with that part
// only.
std::string window_text(const FindingWindow& window) {
  if (window.devices <= 1) return format_ns(window.window_ns);
  const std::string gpus = std::to_string(window.devices) + " GPUs";
  const bool parts = window.total_ns * 20 < window.devices * window.window_ns * 19;
  return parts ? format_ns(window.total_ns) + " (" + gpus + " while active, summed)"
               : format_ns(window.window_ns) + " on " + gpus;
}

// "a and b", "a, b and others"; each name in at most `columns` columns.
std::string list_text(const Value::List& names, size_t columns) {
  std::string text = fitted(names[0], columns);
  if (names.size() > 1) text += (names.size() > 2 ? ", " : " and ") + fitted(names[1], columns);
  return text + (names.size() > 2 ? " and others" : "");
}

// "rank 3", or "ranks 0, 1, 2, 3 and 4 more".
std::string ranks_text(const Value::List& labels) {
  return (labels.size() > 1 ? "ranks " : "rank ") + labels_text(labels, kRanksSaid);
}

uint64_t number_of(const Value& value) {
  if (const auto* list = value.get<Value::List>()) return list->size();
  return static_cast<uint64_t>(std::llround(value.number().value_or(0)));
}

class Renderer {
 public:
  explicit Renderer(const Finding& finding)
      : finding_(finding), message_(message_of(finding.code)) {}

  std::string render(size_t columns) {
    std::vector<Part> parts = filled();
    if (parts.empty()) return std::string(name(finding_.code));
    while (width(parts) > columns) {
      const auto last = std::find_if(parts.rbegin(), parts.rend(),
                                     [](const Part& part) { return part.optional; });
      if (last == parts.rend()) break;
      parts.erase(std::next(last).base());
    }
    if (width(parts) > columns && shorten_longest(width(parts) - columns)) return render(columns);
    std::string text;
    for (const Part& part : parts) text += part.text;
    if (message_.capital && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
    return text;
  }

 private:
  struct Part {
    std::string text;
    bool optional = false;
  };

  static size_t width(const std::vector<Part>& parts) {
    size_t columns = 0;
    for (const Part& part : parts) columns += display_width(part.text);
    return columns;
  }

  // All pieces with known values; nothing if a required value is missing.
  std::vector<Part> filled() const {
    std::vector<Part> parts;
    for (const MessagePiece& piece : message_.pieces) {
      const std::optional<std::string> text = fill(piece);
      if (text) {
        parts.push_back({*text, piece.optional});
      } else if (!piece.optional) {
        return {};
      }
    }
    return parts;
  }

  bool is_parts(std::string_view key) const {
    return std::any_of(message_.values.begin(), message_.values.end(),
                       [key](const DeclaredValue& value) { return value.key == key && value.unit == "parts"; });
  }

  std::optional<std::string> fill(const MessagePiece& piece) const {
    std::string text;
    for (const Token& token : piece.tokens) {
      if (token.kind == Token::Kind::kLiteral) {
        text += token.text;
        continue;
      }
      if (token.text == "window") {
        text += window_text(finding_.window);
        continue;
      }
      if (is_parts(token.text)) {
        text += parts_text();
        continue;
      }
      const Quantity* quantity = finding_.find(token.text);
      if (quantity == nullptr || quantity->value.missing()) return std::nullopt;
      text += shown(token, *quantity);
    }
    return text;
  }

  // "rank 3 is late, the network between ranks 1 and 2 is slow and ..."
  std::string parts_text() const {
    std::string text;
    const std::vector<Finding>& parts = finding_.parts;
    for (size_t k = 0; k < parts.size(); ++k) {
      text += k == 0 ? "" : k + 1 == parts.size() ? " and " : ", ";
      text += message(parts[k], std::string::npos);
    }
    return text;
  }

  std::string shown(const Token& token, const Quantity& quantity) const {
    const Value& value = quantity.value;
    if (token.kind == Token::Kind::kRanks) {
      const auto* ranks = value.get<Value::List>();
      return ranks == nullptr ? "" : ranks_text(*ranks);
    }
    if (token.decimals >= 0) {
      return fmt::format("{:.{}f}", value.number().value_or(0), token.decimals);
    }
    if (token.kind != Token::Kind::kValue) {
      const uint64_t number = number_of(value);
      const std::string& word = number == 1 ? token.one : token.many;
      const bool counted = token.kind == Token::Kind::kCounted && value.get<Value::List>() == nullptr;
      return counted ? format_count(static_cast<int64_t>(number)) + " " + word : word;
    }
    if (const auto* list = value.get<Value::List>()) return list_text(*list, columns_of(token));
    if (const auto* text = value.get<std::string>()) {
      if (token.whole) return *text;
      return fitted(*text, columns_of(token));
    }
    if (quantity.unit == Unit::kRatio) return fmt::format("{:.3g}", value.number().value_or(0));
    return token.with_sign ? signed_text(value.number().value_or(0), quantity.unit)
                           : format_value(value, quantity.unit);
  }

  // "+1.2 %", "−0.3 %"; "±0.1 %" for less than that.
  static std::string signed_text(double number, Unit unit) {
    const std::string text = format_value(Value(std::abs(number)), unit);
    if (number == 0) return text;
    if (text.starts_with('<')) return "\u00B1" + text.substr(1);
    return (number < 0 ? "\u2212" : "+") + text;
  }

  size_t columns_of(const Token& token) const {
    const auto own = shortened_.find(token.text);
    if (own != shortened_.end()) return own->second;
    return token.columns > 0 ? token.columns : kLongestNameSaid;
  }

  // Display width of a name, or of the longest name in a list; 0 for a number.
  static size_t longest_name(const Value& value) {
    if (const auto* text = value.get<std::string>()) return display_width(clean_text(*text));
    size_t columns = 0;
    if (const auto* list = value.get<Value::List>()) {
      for (const std::string& name : *list) {
        columns = std::max(columns, display_width(clean_text(name)));
      }
    }
    return columns;
  }

  bool is_whole(std::string_view key) const {
    for (const MessagePiece& piece : message_.pieces) {
      for (const Token& token : piece.tokens) {
        if (token.whole && token.text == key) return true;
      }
    }
    return false;
  }

  // Shortens the widest name; false if no name can be shortened.
  bool shorten_longest(size_t excess) {
    const Quantity* longest = nullptr;
    size_t most = kShortestName;
    for (const Quantity& quantity : finding_.quantities) {
      const auto own = shortened_.find(quantity.key);
      const size_t columns = std::min(own == shortened_.end() ? kLongestNameSaid : own->second,
                                      longest_name(quantity.value));
      if (columns <= most || is_whole(quantity.key)) continue;
      most = columns;
      longest = &quantity;
    }
    if (longest == nullptr) return false;
    shortened_[std::string(longest->key)] =
        std::max(kShortestName, most > excess ? most - excess : kShortestName);
    return true;
  }

  const Finding& finding_;
  const Message& message_;
  std::map<std::string, size_t, std::less<>> shortened_;
};

}  // namespace

std::string message(const Finding& finding, size_t columns) {
  return Renderer(finding).render(message_of(finding.code).whole ? std::string::npos : columns);
}

std::vector<std::string> texts_of(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) texts.push_back(message(finding, std::string::npos));
  return texts;
}

}  // namespace assay::text
