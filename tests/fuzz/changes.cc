#include "changes.h"

#include <array>
#include <iterator>
#include <vector>

#include "changes_frames.h"

namespace assay::fuzz {
namespace {

// What readers trip over: ends of numbers, brackets, bytes that are no text.
constexpr std::array<std::string_view, 35> kWords = {std::string_view("-1"),
                                                     "0",
                                                     "1e308",
                                                     "-9223372036854775808",
                                                     "9223372036854775807",
                                                     "18446744073709551616",
                                                     "1.5",
                                                     "NaN",
                                                     "Infinity",
                                                     "null",
                                                     "true",
                                                     "\"\"",
                                                     "[]",
                                                     "{}",
                                                     "[[[[[[[[",
                                                     "}}}}",
                                                     "\n",
                                                     "\r\n",
                                                     ",",
                                                     ";",
                                                     "\t",
                                                     "\"",
                                                     "\\u0000",
                                                     "\\",
                                                     "\xff\xfe",
                                                     "\xef\xbb\xbf",
                                                     std::string_view("\0\0\0\0", 4),
                                                     "\xff\xff\xff\xff\xff\xff\xff\xff",
                                                     "1,234.5",
                                                     "%",
                                                     "<",
                                                     ">",
                                                     "::",
                                                     "(",
                                                     ")"};

// As a value of JSON.
constexpr std::array<std::string_view, 16> kValues = {"-1",
                                                      "0",
                                                      "1e308",
                                                      "-9223372036854775808",
                                                      "9223372036854775807",
                                                      "18446744073709551616",
                                                      "1.5",
                                                      "null",
                                                      "true",
                                                      "\"\"",
                                                      "\"12\"",
                                                      "\"\\u0000\"",
                                                      "-0.0",
                                                      "[]",
                                                      "{}",
                                                      "[[[[[[[[[[]]]]]]]]]]"};

// A value of JSON, or a member with its name.
struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// Values, members and elements, by their brackets and quotes; what is odd in between is passed
// over.
class JsonSpans {
 public:
  explicit JsonSpans(std::string_view text) : text_(text) {}

  std::vector<Span> find() {
    while (at_ < text_.size() && spans_.size() < kMost) step();
    return spans_;
  }

 private:
  static constexpr size_t kMost = 20'000;

  void step() {
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      open_.push_back(at_++);
    } else if (c == '}' || c == ']') {
      ++at_;
      if (open_.empty()) return;
      spans_.push_back({open_.back(), at_});
      open_.pop_back();
    } else if (c == '"') {
      take_text();
    } else if (is_scalar(c)) {
      const size_t begin = at_;
      while (at_ < text_.size() && is_scalar(text_[at_])) ++at_;
      take_value(begin);
    } else {
      ++at_;
    }
  }
  static bool is_scalar(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
  }
  void take_text() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    size_t behind = at_;
    while (behind < text_.size() && (text_[behind] == ' ' || text_[behind] == '\n')) ++behind;
    if (behind < text_.size() && text_[behind] == ':') {
      name_ = begin;
      at_ = behind + 1;
    } else {
      take_value(begin);
    }
  }
  void take_value(size_t begin) {
    spans_.push_back({begin, at_});
    if (name_ != kNone) spans_.push_back({name_, at_});
    name_ = kNone;
  }

  static constexpr size_t kNone = ~size_t{0};
  std::string_view text_;
  size_t at_ = 0;
  size_t name_ = kNone;  // where the name of the coming value begins
  std::vector<size_t> open_;
  std::vector<Span> spans_;
};

std::string text_at(const std::string& bytes, Span span) {
  return bytes.substr(span.begin, span.end - span.begin);
}

bool change_json(std::string& bytes, Random& random) {
  const std::vector<Span> spans = JsonSpans(bytes).find();
  if (spans.empty()) return false;
  const Span at = spans[random.below(spans.size())];
  const size_t length = at.end - at.begin;
  const std::string other = text_at(bytes, spans[random.below(spans.size())]);
  switch (random.below(5)) {
    case 0:
    case 1:
      bytes.replace(at.begin, length, kValues[random.below(kValues.size())]);
      return true;
    case 2:
      bytes.replace(at.begin, length, other);
      return true;
    case 3:
      bytes.insert(at.end, "," + other);
      return true;
    default:
      // With the comma behind it, so that the list goes on.
      bytes.erase(at.begin, length + (at.end < bytes.size() && bytes[at.end] == ',' ? 1 : 0));
      return true;
  }
}

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, char by) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += by;
    text += parts[i];
  }
  return text;
}

char separator_of(std::string_view line) {
  for (const char c : {'\t', ';', ',', '='}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ' ';
}

// The same in every row: a column goes, comes twice or trades places.
void change_column(std::vector<std::string>& rows, char by, Random& random) {
  const size_t columns = split(rows[0], by).size();
  const size_t one = random.below(columns);
  const size_t two = random.below(columns);
  const size_t how = random.below(3);
  for (std::string& row : rows) {
    std::vector<std::string> cells = split(row, by);
    if (std::max(one, two) >= cells.size()) continue;
    const auto at = cells.begin() + static_cast<std::ptrdiff_t>(one);
    if (how == 0) {
      cells.erase(at);
    } else if (how == 1) {
      const std::string copy = cells[two];
      cells.insert(at, copy);
    } else {
      std::swap(cells[one], cells[two]);
    }
    row = join(cells, by);
  }
}

void change_cell(std::vector<std::string>& rows, size_t row, char by, Random& random) {
  std::vector<std::string> cells = split(rows[row], by);
  std::string& cell = cells[random.below(cells.size())];
  if (random.below(3) > 0) {
    cell = kWords[random.below(kWords.size())];
  } else {
    const std::vector<std::string> others = split(rows[random.below(rows.size())], by);
    cell = others[random.below(others.size())];
  }
  rows[row] = join(cells, by);
}

bool change_lines(std::string& bytes, Random& random) {
  std::vector<std::string> rows = split(bytes, '\n');
  const char by = separator_of(rows[0]);
  const size_t row = random.below(rows.size());
  const auto at = rows.begin() + static_cast<std::ptrdiff_t>(row);
  switch (random.below(6)) {
    case 0:
      change_column(rows, by, random);
      break;
    case 1: {
      const std::string copy = rows[random.below(rows.size())];
      rows.insert(at, copy);
      break;
    }
    case 2:
      if (rows.size() > 1) rows.erase(at);
      break;
    default:
      change_cell(rows, row, by, random);
      break;
  }
  bytes = join(rows, '\n');
  return true;
}

}  // namespace

void change_bytes(std::string& bytes, std::string_view other, Random& random) {
  const size_t at = random.below(bytes.size() + 1);
  const size_t length = random.below(std::min<size_t>(bytes.size() - at, 64) + 1);
  switch (random.below(8)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      return;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(random.next());
      return;
    case 2:
      bytes.erase(at, length);
      return;
    case 3:
      bytes.insert(at, bytes.substr(at, length));
      return;
    case 4:
      bytes.insert(at, kWords[random.below(kWords.size())]);
      return;
    case 5:
      bytes.replace(at, length, kWords[random.below(kWords.size())]);
      return;
    case 6:
      bytes.resize(at);
      return;
    default:
      bytes.insert(at, other.substr(random.below(other.size() + 1), 1 + random.below(200)));
      return;
  }
}

bool change_inside(std::string& bytes, Random& random) {
  if (is_database(bytes)) return change_database(bytes, random);
  if (is_recording(bytes)) return change_recording(bytes, random);
  if (is_columnar(bytes)) return change_columnar(bytes, random);
  const size_t first = bytes.find_first_not_of(" \r\n\t");
  if (first == std::string::npos || static_cast<unsigned char>(bytes[first]) >= 0x80) return false;
  const bool json = bytes[first] == '{' || bytes[first] == '[';
  return json ? change_json(bytes, random) : change_lines(bytes, random);
}

std::string changed_copy(const std::string& seed, const std::string& other, Random& random) {
  std::string bytes = seed;
  const bool inside = random.below(2) == 0;
  for (size_t changes = 1 + random.below(6); changes > 0; --changes) {
    if (inside && change_inside(bytes, random)) continue;
    change_bytes(bytes, other, random);
  }
  return bytes;
}

}  // namespace assay::fuzz
