#include "ingest/memory/pickle.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace assay {
namespace {

constexpr size_t kMostValues = 20'000'000;
constexpr size_t kMostMarks = 10'000;  // nesting depth of unfinished lists and dicts

struct Opcode {
  unsigned char code;
  std::string_view name;
};

// Rejected opcodes: they import, call or build, or refer to objects outside the file.
constexpr Opcode kCode[] = {
    {'c', "GLOBAL"},    {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},
    {'b', "BUILD"},     {'i', "INST"},          {'o', "OBJ"},
    {0x81, "NEWOBJ"},   {0x92, "NEWOBJ_EX"},    {0x82, "EXT1"},
    {0x83, "EXT2"},     {0x84, "EXT4"},         {'P', "PERSID"},
    {'Q', "BINPERSID"}, {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
};

class Machine {
 public:
  explicit Machine(std::string_view bytes) : bytes_(bytes) {}

  Result<PickleDocument> run() {
    ASSAY_TRY(begin());
    while (!stopped_) {
      start_ = at_;
      ASSAY_TRY_ASSIGN(const uint64_t code, number(1));
      ASSAY_TRY(step(static_cast<unsigned char>(code)));
    }
    if (at_ != bytes_.size()) return error(ErrorCode::kFormat, "bytes after the end of the pickle");
    return std::move(document_);
  }

 private:
  Error error(ErrorCode code, std::string message) const {
    return {code, std::move(message), "", static_cast<int64_t>(start_)};
  }
  Error odd(const char* what) const { return error(ErrorCode::kFormat, what); }

  Result<std::string_view> take(uint64_t length) {
    if (length > bytes_.size() - at_) {
      return Error{ErrorCode::kTruncated, "the pickle ends within a value: the file was cut off",
                   "", static_cast<int64_t>(bytes_.size())};
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(length));
    at_ += taken.size();
    return taken;
  }

  // Little-endian, unsigned.
  Result<uint64_t> number(size_t width) {
    ASSAY_TRY_ASSIGN(const std::string_view taken, take(width));
    uint64_t value = 0;
    for (size_t i = width; i > 0; --i)
      value = value << 8 | static_cast<unsigned char>(taken[i - 1]);
    return value;
  }

  Status begin() {
    constexpr uint64_t kProto = 0x80;
    ASSAY_TRY_ASSIGN(const uint64_t proto, number(1));
    ASSAY_TRY_ASSIGN(const uint64_t version, number(1));
    if (proto != kProto || version < 2 || version > 5) return odd("no pickle of protocol 2 to 5");
    return Ok{};
  }

  Status push(PickleValue value) {
    if (document_.values.size() >= kMostValues)
      return error(ErrorCode::kUnsupported, "more values than any file of this kind has");
    stack_.push_back(static_cast<uint32_t>(document_.values.size()));
    document_.values.push_back(std::move(value));
    return Ok{};
  }

  // Number of values that may be popped: those above the last mark.
  size_t above_mark() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }

  Status push_integer(size_t width, bool is_signed) {
    ASSAY_TRY_ASSIGN(const uint64_t value, number(width));
    const auto narrow = static_cast<int32_t>(static_cast<uint32_t>(value));
    return push({.kind = PickleKind::kInteger,
                 .integer = is_signed ? narrow : static_cast<int64_t>(value)});
  }

  // Two's complement of any length. Addresses with the highest bit set take nine bytes.
  Status push_long(size_t width_of_length) {
    ASSAY_TRY_ASSIGN(const uint64_t length, number(width_of_length));
    ASSAY_TRY_ASSIGN(const std::string_view digits, take(length));
    const bool unsigned_of_nine = length == 9 && digits[8] == '\0';
    if (length > 8 && !unsigned_of_nine)
      return error(ErrorCode::kUnsupported, "an integer of more than 64 bits");
    const bool negative =
        !digits.empty() && (static_cast<unsigned char>(digits.back()) & 0x80u) != 0;
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (size_t i = digits.size(); i > 0; --i)
      value = value << 8 | static_cast<unsigned char>(digits[i - 1]);
    return push({.kind = PickleKind::kInteger, .integer = static_cast<int64_t>(value)});
  }

  Status push_real() {
    ASSAY_TRY_ASSIGN(const std::string_view taken, take(8));
    uint64_t bits = 0;  // big-endian, unlike integers
    for (const char c : taken) bits = bits << 8 | static_cast<unsigned char>(c);
    double real = 0;
    std::memcpy(&real, &bits, sizeof(real));
    return push({.kind = PickleKind::kReal, .real = real});
  }

  Status push_text(size_t width_of_length) {
    ASSAY_TRY_ASSIGN(const uint64_t length, number(width_of_length));
    ASSAY_TRY_ASSIGN(const std::string_view text, take(length));
    return push({.kind = PickleKind::kText, .text = text});
  }

  Status push_tuple(size_t length) {
    if (above_mark() < length) return odd("a tuple of more than there is");
    PickleValue tuple{.kind = PickleKind::kList};
    tuple.of.assign(stack_.end() - static_cast<std::ptrdiff_t>(length), stack_.end());
    stack_.resize(stack_.size() - length);
    return push(std::move(tuple));
  }

  Status mark() {
    if (marks_.size() >= kMostMarks)
      return error(ErrorCode::kUnsupported, "values nested deeper than in any file of this kind");
    marks_.push_back(stack_.size());
    return Ok{};
  }

  Status push_marked_tuple() {
    if (marks_.empty()) return odd("a tuple without a mark");
    const size_t length = above_mark();
    marks_.pop_back();
    return push_tuple(length);
  }

  // Moves the last `length` values into the list or dict below them.
  Status fill(PickleKind kind, size_t length) {
    if (above_mark() < length + 1) return odd("nothing to add to");
    PickleValue& into = document_.values[stack_[stack_.size() - length - 1]];
    if (into.kind != kind) return odd("values are added to something other than a list or dict");
    if (kind == PickleKind::kDict && length % 2 != 0) return odd("a key without a value");
    into.of.insert(into.of.end(), stack_.end() - static_cast<std::ptrdiff_t>(length), stack_.end());
    stack_.resize(stack_.size() - length);
    return Ok{};
  }

  Status fill_marked(PickleKind kind) {
    if (marks_.empty()) return odd("values without a mark");
    const size_t length = above_mark();
    marks_.pop_back();
    return fill(kind, length);
  }

  // Both picklers that write snapshots use consecutive memo numbers.
  Status memoize(uint64_t index) {
    if (above_mark() == 0) return odd("nothing to keep");
    if (index > memo_.size()) return odd("a kept value is numbered out of order");
    if (index == memo_.size()) memo_.push_back(0);
    memo_[static_cast<size_t>(index)] = stack_.back();
    return Ok{};
  }

  Status memoize_numbered(size_t width) {
    ASSAY_TRY_ASSIGN(const uint64_t index, number(width));
    return memoize(index);
  }

  Status recall(size_t width) {
    ASSAY_TRY_ASSIGN(const uint64_t index, number(width));
    if (index >= memo_.size()) return odd("a value is recalled that was not kept");
    if (stack_.size() >= kMostValues)
      return error(ErrorCode::kUnsupported, "more values than any file of this kind has");
    stack_.push_back(memo_[static_cast<size_t>(index)]);
    return Ok{};
  }

  Status frame() {
    ASSAY_TRY_ASSIGN(const uint64_t length, number(8));
    if (length <= bytes_.size() - at_) return Ok{};
    return Error{ErrorCode::kTruncated, "the pickle ends within a frame: the file was cut off", "",
                 static_cast<int64_t>(bytes_.size())};
  }

  Status stop() {
    if (stack_.size() != 1 || !marks_.empty()) return odd("the pickle ends with several values");
    document_.root = stack_.front();
    stopped_ = true;
    return Ok{};
  }

  Status refuse(unsigned char code) const {
    for (const Opcode& one : kCode) {
      if (one.code != code) continue;
      return error(ErrorCode::kUnsupported,
                   "the pickle would run code (" + std::string(one.name) +
                       "): only plain data is read");
    }
    return odd("an opcode that plain data does not have");
  }

  Status step(unsigned char code) {
    if (const std::optional<Status> done = scalar(code)) return *done;
    if (const std::optional<Status> done = container(code)) return *done;
    return refuse(code);
  }

  std::optional<Status> scalar(unsigned char code) {
    switch (code) {
      case 'N':
        return push({});
      case 0x88:
      case 0x89:
        return push({.kind = PickleKind::kBool, .integer = code == 0x88});
      case 'K':
        return push_integer(1, false);
      case 'M':
        return push_integer(2, false);
      case 'J':
        return push_integer(4, true);
      case 0x8A:
        return push_long(1);
      case 0x8B:
        return push_long(4);
      case 'G':
        return push_real();
      case 0x8C:  // SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
      case 'U':
      case 'C':
        return push_text(1);
      case 'X':  // BINUNICODE, BINSTRING, BINBYTES
      case 'T':
      case 'B':
        return push_text(4);
      case 0x8D:  // BINUNICODE8, BINBYTES8
      case 0x8E:
        return push_text(8);
      default:
        return std::nullopt;
    }
  }

  std::optional<Status> container(unsigned char code) {
    switch (code) {
      case ']':
        return push({.kind = PickleKind::kList});
      case '}':
        return push({.kind = PickleKind::kDict});
      case ')':
        return push_tuple(0);
      case 0x85:  // TUPLE1, TUPLE2, TUPLE3
      case 0x86:
      case 0x87:
        return push_tuple(code - size_t{0x84});
      case 't':
        return push_marked_tuple();
      case '(':
        return mark();
      case 'a':
        return fill(PickleKind::kList, 1);
      case 'e':
        return fill_marked(PickleKind::kList);
      case 's':
        return fill(PickleKind::kDict, 2);
      case 'u':
        return fill_marked(PickleKind::kDict);
      case 'q':
        return memoize_numbered(1);
      case 'r':
        return memoize_numbered(4);
      case 0x94:
        return memoize(memo_.size());
      case 'h':
        return recall(1);
      case 'j':
        return recall(4);
      case 0x95:
        return frame();
      case '.':
        return stop();
      default:
        return std::nullopt;
    }
  }

  std::string_view bytes_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the current opcode
  bool stopped_ = false;
  PickleDocument document_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> marks_;  // stack heights
  std::vector<uint32_t> memo_;
};

}  // namespace

const PickleValue* PickleDocument::find(const PickleValue& dict, std::string_view key) const {
  if (dict.kind != PickleKind::kDict) return nullptr;
  for (size_t i = dict.of.size(); i > 1; i -= 2) {
    const PickleValue& name = values[dict.of[i - 2]];
    if (name.kind == PickleKind::kText && name.text == key) return &values[dict.of[i - 1]];
  }
  return nullptr;
}

Result<PickleDocument> parse_pickle(std::string_view bytes) { return Machine(bytes).run(); }

}  // namespace assay
