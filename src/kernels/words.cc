#include "kernels/words.h"

#include <algorithm>

#include "base/ascii.h"

namespace assay {
namespace {

constexpr char kWord = 1;
constexpr char kIdentifier = 2;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
// Bytes of UTF-8 sequences count as letters.
bool is_word_char(char c) { return is_letter(c) || is_digit(c) || static_cast<signed char>(c) < 0; }

bool starts_word(std::string_view text, size_t i) {
  if (i == 0 || !is_word_char(text[i - 1])) return true;
  const char before = text[i - 1];
  if (is_digit(before) != is_digit(text[i])) return true;
  if (!is_upper(text[i])) return false;
  return !is_upper(before) || (i + 1 < text.size() && text[i + 1] >= 'a' && text[i + 1] <= 'z');
}

}  // namespace

void WordText::add(std::string_view identifier) {
  bool first = true;
  for (size_t i = 0; i < identifier.size(); ++i) {
    if (!is_word_char(identifier[i])) continue;
    if (letters_.size() >= kMaxWordText) break;
    letters_ += lower(identifier[i]);
    marks_.push_back(starts_word(identifier, i) ? kWord : 0);
    if (first) marks_.back() = kWord | kIdentifier;
    if (!first) {
      const size_t bit = pair_bit(letters_[letters_.size() - 2], letters_.back());
      pairs_[bit / 64] |= uint64_t{1} << (bit % 64);
    }
    first = false;
  }
  if (first) return;
  letters_ += '\0';
  marks_.push_back(kWord);
}

Result<WordPattern> WordPattern::parse(std::string_view text) {
  const std::string shown(text);
  const auto bad = [&](const std::string& why) {
    return Error{ErrorCode::kInvalidArgument, "\"" + shown + "\": " + why, "", -1};
  };
  WordPattern pattern;
  const auto take = [&](char sign, bool front) {
    if (text.empty() || (front ? text.front() : text.back()) != sign) return false;
    front ? text.remove_prefix(1) : text.remove_suffix(1);
    return true;
  };
  pattern.at_begin_ = take('^', true);
  pattern.open_begin_ = take('*', true);
  pattern.at_end_ = take('$', false);
  pattern.open_end_ = take('*', false);
  if (pattern.open_begin_ && (pattern.open_end_ || pattern.at_begin_)) {
    return bad("a word matches by its beginning or by its end; '*' goes to one side");
  }
  for (const char c : text) {
    if (c == '_') continue;
    if (!is_word_char(c)) return bad("words are letters, digits and '_'");
    pattern.letters_ += lower(c);
  }
  if (pattern.letters_.empty()) return bad("no word, which every name would have");
  if (pattern.letters_.size() > 1) {
    const std::string& word = pattern.letters_;
    pattern.first_pair_ = WordText::pair_bit(word[0], word[1]);
    pattern.last_pair_ = WordText::pair_bit(word[word.size() - 2], word.back());
  }
  return pattern;
}

bool WordPattern::fits(const WordText& text, size_t begin) const {
  const char mark = text.marks_[begin];
  if (at_begin_ && (mark & kIdentifier) == 0) return false;
  if (!open_begin_ && (mark & kWord) == 0) return false;
  const size_t end = begin + letters_.size();
  if (at_end_) return text.letters_[end] == '\0';
  return open_end_ || (text.marks_[end] & kWord) != 0;
}

bool WordPattern::matches(const WordText& text) const {
  if (letters_.size() > text.letters_.size()) return false;
  if (letters_.size() > 1 && !(text.has_pair(first_pair_) && text.has_pair(last_pair_)))
    return false;
  size_t at = text.letters_.find(letters_);
  for (; at != std::string::npos; at = text.letters_.find(letters_, at + 1)) {
    if (fits(text, at)) return true;
  }
  return false;
}

}  // namespace assay
