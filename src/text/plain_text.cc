#include "text/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace assay {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
// No script stacks more marks than this on one letter, but "zalgo" text does.
constexpr size_t kMaxCombiningRun = 4;

struct Range {
  char32_t first;
  char32_t last;
};

template <size_t N>
bool in_range(const Range (&ranges)[N], char32_t value) {
  const auto* after =
      std::upper_bound(std::begin(ranges), std::end(ranges), value,
                       [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != std::begin(ranges) && value <= std::prev(after)->last;
}

// Unicode's Default_Ignorable_Code_Point, the interlinear annotation characters, and the tags.
constexpr Range kInvisible[] = {
    {0x00AD, 0x00AD},   {0x034F, 0x034F},  {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},  {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

constexpr Range kCombining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC},
    {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902}, {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0x302A, 0x302D}, {0x3099, 0x309A},
    {0xFE20, 0xFE2F}};

constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26A1, 0x26A1},
    {0x26D4, 0x26D4},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},
    {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

std::string_view ascii_spelling(char32_t value) {
  switch (value) {
    case 0x00A0:
      return " ";
    case 0x00B1:
      return "+-";
    case 0x00B5:
    case 0x03BC:
      return "u";
    case 0x00B7:
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2212:
      return "-";
    case 0x00D7:
      return "x";
    case 0x2018:
    case 0x2019:
      return "'";
    case 0x201C:
    case 0x201D:
      return "\"";
    case 0x2026:
      return "...";
    case 0x2192:
      return "->";
    case 0x2248:
      return "~";
    case 0x2264:
      return "<=";
    case 0x2265:
      return ">=";
    default:
      return "?";
  }
}

std::string_view ellipsis(Charset charset) { return charset == Charset::kUtf8 ? "\u2026" : "..."; }

bool is_line_break_or_tab(char32_t value) {
  return (value >= '\t' && value <= '\r') || value == 0x85 || value == 0x2028 || value == 0x2029;
}

}  // namespace

bool is_invisible(char32_t value) { return value >= 0xAD && in_range(kInvisible, value); }

size_t display_width(char32_t value) {
  if (value < 0x300) return 1;
  if (in_range(kCombining, value)) return 0;
  return in_range(kWide, value) ? 2 : 1;
}

size_t display_width(std::string_view cleaned) {
  size_t width = 0;
  for (size_t i = 0; i < cleaned.size();) {
    const CodePoint point = decode_utf8(cleaned, i);
    width += display_width(point.value);
    i += point.bytes;
  }
  return width;
}

std::string clean_text(std::string_view text, Charset charset) {
  std::string out;
  out.reserve(text.size());
  size_t combining_run = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    const bool carriage_return_of_pair =
        point.value == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    i += point.bytes;
    if (carriage_return_of_pair || is_invisible(point.value)) continue;
    char32_t value = point.value;
    if (is_line_break_or_tab(value)) {
      value = ' ';
    } else if (is_control(value)) {
      value = kReplacement;
    }
    combining_run = display_width(value) == 0 ? combining_run + 1 : 0;
    if (combining_run > kMaxCombiningRun) continue;
    if (charset == Charset::kUtf8 || value < 0x80) {
      append_utf8(value, out);
    } else if (combining_run == 0) {
      out += ascii_spelling(value);
    }
  }
  return out;
}

std::string shorten_middle(std::string_view cleaned, size_t width, Charset charset) {
  if (cleaned.size() <= width || display_width(cleaned) <= width) return std::string(cleaned);
  struct Piece {
    size_t offset;
    size_t width;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < cleaned.size();) {
    const CodePoint point = decode_utf8(cleaned, i);
    pieces.push_back({i, display_width(point.value)});
    i += point.bytes;
  }
  const std::string_view dots = ellipsis(charset);
  const size_t dots_width = display_width(dots);
  // Too narrow for an ellipsis: keep only the beginning.
  const bool with_dots = width > dots_width;
  const size_t room = with_dots ? width - dots_width : width;
  const size_t head_room = with_dots ? (room + 1) / 2 : room;
  size_t head = 0;
  size_t head_width = 0;
  while (head < pieces.size() && head_width + pieces[head].width <= head_room) {
    head_width += pieces[head].width;
    ++head;
  }
  std::string out(cleaned.substr(0, head < pieces.size() ? pieces[head].offset : cleaned.size()));
  if (!with_dots) return out;
  size_t tail = pieces.size();
  size_t tail_width = 0;
  while (tail > head && tail_width + pieces[tail - 1].width <= room - head_width) {
    tail_width += pieces[tail - 1].width;
    --tail;
  }
  // A combining mark must not land on the ellipsis.
  while (tail < pieces.size() && pieces[tail].width == 0) ++tail;
  out += dots;
  if (tail < pieces.size()) out += cleaned.substr(pieces[tail].offset);
  return out;
}

std::string lane_text(std::string_view text) {
  constexpr size_t kLongest = 120;
  return shorten_middle(clean_text(text), kLongest);
}

std::vector<std::string> wrap_text(std::string_view cleaned, size_t width, Charset charset) {
  width = std::max<size_t>(width, 1);
  std::vector<std::string> lines;
  std::string line;
  size_t line_width = 0;
  for (size_t i = 0; i < cleaned.size();) {
    const size_t start = cleaned.find_first_not_of(' ', i);
    if (start == std::string_view::npos) break;
    const size_t end = std::min(cleaned.find(' ', start), cleaned.size());
    const std::string word = shorten_middle(cleaned.substr(start, end - start), width, charset);
    const size_t word_width = display_width(word);
    if (!line.empty() && line_width + 1 + word_width > width) {
      lines.push_back(std::move(line));
      line.clear();
      line_width = 0;
    }
    if (!line.empty()) {
      line += ' ';
      ++line_width;
    }
    line += word;
    line_width += word_width;
    i = end;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string pad_text(std::string_view cleaned, size_t width, bool right) {
  const size_t used = display_width(cleaned);
  const std::string spaces(width > used ? width - used : 0, ' ');
  return right ? spaces + std::string(cleaned) : std::string(cleaned) + spaces;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace assay
