#include "kernels/mangled.h"

#include "base/ascii.h"

namespace assay {
namespace {

// Content of a bracket of the grammar; each ends with an 'E'.
enum class Group : char {
  kNested = 'N',      // a qualified name
  kTemplate = 'I',    // template arguments, and packs in them
  kLocal = 'Z',       // the function that a local entity is in
  kLiteral = 'L',     // a constant: its type, then its value
  kLambda = 'U',      // the parameters of a lambda
  kExpression = 'X',  // anything else
};

constexpr size_t kNoArgument = ~size_t{0};
constexpr size_t kDeepest = 200;  // maximum nesting, far above that of real names

class MangledReader {
 public:
  explicit MangledReader(std::string_view text) : text_(text) {}

  KernelName read() {
    at_ = 2;  // "_Z"
    while (at_ < text_.size() && parts_ < kMaxNameParts) {
      const size_t before = at_;
      step();
      if (at_ == before) break;
    }
    if (!name_.scopes.empty()) {
      name_.function = name_.scopes.back();
      name_.scopes.pop_back();
    }
    return std::move(name_);
  }

 private:
  struct Frame {
    Group group;
    size_t last_argument = kNoArgument;  // of a qualified name: its part so far
    bool typed = false;                  // of a literal: its value is next
  };

  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool inside(Group group) const { return !frames_.empty() && frames_.back().group == group; }

  void open(Group group, size_t length) {
    frames_.push_back({group});
    at_ = frames_.size() > kDeepest ? text_.size() : at_ + length;
  }

  void close() {
    ++at_;
    if (frames_.empty()) return;
    const Group closed = frames_.back().group;
    frames_.pop_back();
    if (closed == Group::kLambda) skip_number_and_bar();
    if (inside(Group::kLiteral)) frames_.back().typed = true;
    if (frames_.empty() && closed != Group::kLocal && !name_.scopes.empty()) path_done_ = true;
  }

  void skip_number_and_bar() {
    while (is_digit(peek())) ++at_;
    if (peek() == '_') ++at_;
  }

  // True if the next name is part of the kernel's own.
  bool in_path() const {
    if (path_done_) return false;
    for (const Frame& frame : frames_) {
      if (frame.group != Group::kNested && frame.group != Group::kLocal) return false;
    }
    return true;
  }

  void take(std::string_view part) {
    ++parts_;
    if (part.starts_with("_GLOBAL__N")) return;  // an unnamed namespace
    if (in_path()) {
      name_.scopes.push_back(part);
      // "_Z3fooIfEvv": without a qualified name the path is this name and its list.
      if (frames_.empty() && peek() != 'I') path_done_ = true;
      return;
    }
    if (path_done_) {
      name_.parameters.push_back(part);
      return;
    }
    if (inside(Group::kNested)) {
      Frame& frame = frames_.back();
      if (frame.last_argument != kNoArgument) name_.arguments[frame.last_argument].scope = true;
      frame.last_argument = name_.arguments.size();
    }
    name_.arguments.push_back({part});
    if (inside(Group::kLiteral)) frames_.back().typed = true;
  }

  void read_source_name() {
    size_t length = 0;
    while (is_digit(peek()) && length < text_.size()) {
      length = length * 10 + static_cast<size_t>(peek() - '0');
      ++at_;
    }
    if (length == 0) return;
    if (length > text_.size() - at_) {
      at_ = text_.size();
      return;
    }
    const std::string_view part = text_.substr(at_, length);
    at_ += length;
    take(part);
  }

  void read_literal() {
    if (text_.substr(at_, 3) == "L_Z") return open(Group::kExpression, 3);
    // In front of a name, 'L' means that it is local to its file.
    if (in_path() || inside(Group::kNested)) {
      ++at_;
      return;
    }
    const char type = peek(1);
    if (type >= 'a' && type <= 'z') return skip_past_end();
    open(Group::kLiteral, 1);
  }

  void skip_past_end() {
    const size_t end = text_.find('E', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  // "S_", "S1A_", "T0_"; "St", "Sa", ... are the standard library's.
  void read_reference() {
    constexpr size_t kMostDigits = 8;
    size_t end = at_ + 1;
    const auto is_seq_digit = [&](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); };
    while (end < text_.size() && end - at_ <= kMostDigits && is_seq_digit(text_[end])) ++end;
    at_ = end < text_.size() && text_[end] == '_' ? end + 1 : at_ + 2;
    if (inside(Group::kLiteral)) frames_.back().typed = true;
  }

  void type_word(std::string_view word, size_t length) {
    if (inside(Group::kTemplate)) name_.arguments.push_back({word});
    ++parts_;
    at_ += length;
  }

  void read_d() {
    if (text_.substr(at_, 5) == "DF16_") return type_word("_Float16", 5);
    if (text_.substr(at_, 5) == "DF16b") return type_word("__bf16", 5);
    const char kind = peek(1);
    if (kind == 'T' || kind == 't') return open(Group::kExpression, 2);  // decltype
    at_ += 2;
    if (kind == 'v' || kind == 'B' || kind == 'U' || kind == 'F') skip_number_and_bar();
  }

  void read_u() {
    if (peek(1) == 'l') return open(Group::kLambda, 2);
    if (peek(1) == 't') {
      at_ += 2;
      return skip_number_and_bar();
    }
    ++at_;
  }

  void step() {
    const char c = peek();
    if (is_digit(c)) {
      // A literal's value, and numbers of expressions, are not lengths.
      if (inside(Group::kLiteral) && frames_.back().typed) {
        skip_past_end();
        frames_.pop_back();
        return;
      }
      if (c == '0') {
        ++at_;
        return;
      }
      return read_source_name();
    }
    switch (c) {
      case 'N':
        open(Group::kNested, 1);
        while (peek() == 'r' || peek() == 'V' || peek() == 'K' || peek() == 'R' || peek() == 'O')
          ++at_;
        return;
      case 'I':
      case 'J':
        return open(Group::kTemplate, 1);
      case 'X':
      case 'F':
        return open(Group::kExpression, 1);
      case 'Z':
        return open(Group::kLocal, 1);
      case 'E':
        return close();
      case 'L':
        return read_literal();
      case 'S':
      case 'T':
        return read_reference();
      case 'D':
        return read_d();
      case 'U':
        return read_u();
      case 'C':
        at_ += inside(Group::kNested) && is_digit(peek(1)) ? 2 : 1;
        return;
      case 'A':
        ++at_;
        return skip_number_and_bar();
      case 'f':
        return type_word("float", 1);
      case 'd':
        return type_word("double", 1);
      default:
        ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t parts_ = 0;
  bool path_done_ = false;
  std::vector<Frame> frames_;
  KernelName name_;
};

}  // namespace

KernelName parse_mangled_name(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  return MangledReader(name).read();
}

}  // namespace assay
