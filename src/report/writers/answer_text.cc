// The short answer on a terminal: at most 15 lines at 72 columns or more. Glyphs differ as well as
// colours, so that no information is lost without colour.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "findings/causes.h"
#include "report/document/palette.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

constexpr size_t kMostAnswerLines = 15;
constexpr size_t kNarrow = 72;       // below this, gain, title and code get their own lines
constexpr size_t kWidestText = 100;  // longer lines are hard to read
constexpr size_t kWidestBar = 116;
constexpr size_t kTitleAt = 33;
constexpr size_t kHeadWidth = 7;
constexpr std::string_view kBlank = "\u00A0";

// Keeps "84.2 %" on one line.
std::string glued(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool after_digit = i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9';
    const std::string_view rest = text.substr(i + 1 <= text.size() ? i + 1 : i);
    const auto is_unit = [rest](std::string_view unit) {
      if (!rest.starts_with(unit)) return false;
      const char next = rest.size() > unit.size() ? rest[unit.size()] : ' ';
      return next == ' ' || next == '.' || next == ',' || next == ';' || next == ':' || next == ')';
    };
    const bool unit =
        text[i] == ' ' && after_digit &&
        (is_unit("%") || is_unit("ns") || is_unit("\u00B5s") || is_unit("ms") || is_unit("s"));
    out += unit ? kBlank : std::string_view(&text[i], 1);
  }
  return out;
}

std::string loosened(std::string text) {
  for (size_t at = 0; (at = text.find(kBlank, at)) != std::string::npos;) {
    text.replace(at, kBlank.size(), " ");
  }
  return text;
}

// Whole percentages, for legends.
std::string whole_percent(double share) {
  if (share > 0 && share < 0.005) return "<1 %";
  if (share < 1 && share > 0.995) return ">99 %";
  return fmt::format("{:.0f} %", share * 100);
}

class AnswerText {
 public:
  AnswerText(const ShortAnswer& answer, const TerminalOptions& options)
      : answer_(answer),
        options_(options),
        width_(static_cast<size_t>(std::max(options.width, 20))),
        text_width_(std::min(width_, kWidestText)),
        charset_(options.utf8 ? Charset::kUtf8 : Charset::kAscii) {}

  std::string write() {
    if (options_.quiet) {
      verdict(0, true);
      return joined(lines_);
    }
    // Text that does not fit is shown by --full. The last sentences after the headline are dropped
    // first.
    for (size_t told = answer_.more.size();; --told) {
      for (const bool apart : {true, false}) {
        lines_.clear();
        compose(told, apart);
        if (fits() || (told == 0 && !apart)) return joined(lines_);
      }
    }
  }

 private:
  bool fits() const { return lines_.size() <= kMostAnswerLines || width_ < kNarrow; }

  // `told` sentences follow the headline, on a new line if `apart`.
  void compose(size_t told, bool apart) {
    verdict(told, apart);
    const bool strip_stands = !answer_.ranks.empty();
    if (strip_stands) {
      strip();
    } else if (answer_.total_ns > 0 && !answer_.causes.empty()) {
      lines_.emplace_back();
      bar();
    }
    const size_t above = lines_.size();
    const std::vector<std::string> end = foot();
    // Text that does not fit is shown by --full. Code is dropped before actions, starting with the
    // last action; in notes, lists are dropped first.
    size_t note_lines = kMostAnswerLines;
    size_t levers = answer_.levers.size();
    for (size_t code = levers;;) {
      lines_.resize(above);
      middle(levers, code, note_lines);
      if (lines_.size() + end.size() <= kMostAnswerLines || width_ < kNarrow) break;
      if (code > 0) {
        --code;
      } else if (levers > 0) {
        --levers;
      } else if (--note_lines == 0) {
        break;
      }
    }
    const bool room = !strip_stands && lines_.size() + end.size() < kMostAnswerLines;
    if (room) lines_.push_back(levers > 1 ? "   estimated independently; gains are not additive" : "");
    lines_.insert(lines_.end(), end.begin(), end.end());
  }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
  }

  std::string clean(std::string_view text) const { return clean_text(text, charset_); }

  std::vector<std::string> wrapped(std::string_view text, size_t first, size_t rest) const {
    std::vector<std::string> parts =
        wrap_text(glued(clean(text)), text_width_ - std::max(first, rest), charset_);
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i] = std::string(i == 0 ? first : rest, ' ') + loosened(std::move(parts[i]));
    }
    return parts;
  }
  void say(std::string_view text, size_t first, size_t rest) {
    for (std::string& line : wrapped(text, first, rest)) lines_.push_back(std::move(line));
  }

  std::string bold(const std::string& text) const {
    return options_.color ? "\x1b[1m" + text + "\x1b[0m" : text;
  }
  // The nearest colour of the 6 x 6 x 6 cube of 256-colour terminals.
  static int of_256(uint32_t rgb) {
    const auto step = [](uint32_t value) {
      return value < 48 ? 0 : value < 115 ? 1 : static_cast<int>((value - 35) / 40);
    };
    return 16 + 36 * step(rgb >> 16) + 6 * step(rgb >> 8 & 255) + step(rgb & 255);
  }
  std::string coloured(const std::string& text, std::string_view key) const {
    if (!options_.color) return text;
    const CauseColour& colour = colour_of(key);
    const uint32_t rgb = options_.light ? colour.light : colour.dark;
    if (options_.truecolor) {
      return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", rgb >> 16, rgb >> 8 & 255, rgb & 255,
                         text);
    }
    return fmt::format("\x1b[38;5;{}m{}\x1b[0m", of_256(rgb), text);
  }

  void verdict(size_t told, bool apart) {
    const auto sentences = [](const std::vector<std::string>& of, size_t count) {
      std::string text;
      for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + of[i];
      return text;
    };
    std::string text = sentences(answer_.verdict, answer_.verdict.size());
    const std::string more = sentences(answer_.more, told);
    if (!apart && !more.empty()) text += " " + more;
    std::vector<std::string> parts = wrapped(text, 0, 0);
    const size_t colon = parts.front().find(':');
    if (colon != std::string::npos) {
      parts.front() = bold(parts.front().substr(0, colon)) + parts.front().substr(colon);
    }
    for (std::string& part : parts) lines_.push_back(std::move(part));
    if (apart && !more.empty()) say(more, 0, 0);
  }

  std::string glyph(size_t place) const {
    constexpr std::array<std::string_view, 5> kDrawn = {"\u2588", "\u2593", "\u2592", "\u2591",
                                                        "\u00B7"};
    constexpr std::array<std::string_view, 5> kAscii = {"#", "=", "+", "-", "."};
    return std::string(options_.utf8 ? kDrawn[place] : kAscii[place]);
  }

  void bar() {
    const std::vector<AnswerCause> parts = bar_parts(answer_);
    std::vector<int64_t> sizes;
    for (const AnswerCause& part : parts) sizes.push_back(part.ns);
    const std::vector<size_t> cells = bar_cells(sizes, std::min(width_ - 4, kWidestBar));
    std::string line = "  ";
    std::vector<std::pair<std::string, std::string>> legend;  // plain text, coloured text
    const bool computes = !parts.empty() && parts.front().key == "compute";
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string mark =
          glyph(parts[i].key == "rest" ? 4 : std::min<size_t>(i + (computes ? 0 : 1), 3));
      std::string run;
      for (size_t cell = 0; cell < cells[i]; ++cell) run += mark;
      line += coloured(run, parts[i].key);
      const std::string words = fmt::format(
          " {} {}", clean(findings::cause_legend(parts[i].key)),
          whole_percent(static_cast<double>(parts[i].ns) / static_cast<double>(answer_.total_ns)));
      legend.emplace_back(mark + words, coloured(mark, parts[i].key) + words);
    }
    lines_.push_back(std::move(line));
    flow_in(legend);
  }

  // Prints entries separated by two blanks, as many per line as fit.
  void flow_in(const std::vector<std::pair<std::string, std::string>>& entries, size_t indent = 2) {
    std::string line;
    size_t used = 0;
    for (const auto& [plain, painted] : entries) {
      const size_t columns = display_width(plain);
      if (used > 0 && used + 2 + columns > text_width_) {
        lines_.push_back(std::move(line));
        used = 0;
      }
      line = used == 0 ? std::string(indent, ' ') + painted : line + "  " + painted;
      used += (used == 0 ? indent : 2) + columns;
    }
    if (used > 0) lines_.push_back(std::move(line));
  }

  // ---- ranks ----

  size_t state_of(const AnswerRank& rank, size_t cell, size_t cells) const {
    std::array<uint32_t, 3> sums{};
    const size_t bins = rank.bins.size();
    const size_t end = std::max((cell + 1) * bins / cells, cell * bins / cells + 1);
    for (size_t bin = cell * bins / cells; bin < std::min(end, bins); ++bin) {
      for (size_t state = 0; state < 3; ++state) sums[state] += rank.bins[bin][state];
    }
    const auto largest = std::max_element(sums.begin(), sums.end());
    return *largest == 0 ? 3 : static_cast<size_t>(largest - sums.begin());
  }

  static constexpr std::array<std::string_view, 4> kStateKeys = {"compute", "dispatch", "comm_wait",
                                                                 "nothing_asked"};
  std::string state_glyph(size_t state) const {
    constexpr std::array<std::string_view, 4> kDrawn = {"\u2588", "\u2593", "\u00B7", " "};
    constexpr std::array<std::string_view, 4> kAscii = {"#", "=", ".", " "};
    return std::string(options_.utf8 ? kDrawn[state] : kAscii[state]);
  }

  void strip() {
    size_t name_width = 0;
    size_t remark_width = 0;
    for (const AnswerRank& rank : answer_.ranks) {
      if (!rank.shown) continue;
      name_width = std::max(name_width, display_width(clean(rank.name)) + 2);
      remark_width = std::max(remark_width, display_width(clean(rank.remark)));
    }
    const size_t least = name_width + remark_width + 2;
    if (least + 8 > width_) remark_width = 0;
    const size_t cells =
        std::min(width_ - std::min(width_ - 8, name_width + remark_width + 2), kWidestBar);
    for (const AnswerRank& rank : answer_.ranks) {
      if (!rank.shown) continue;
      std::string line = pad_text(clean(rank.name), name_width, false);
      for (size_t cell = 0; cell < cells;) {
        const size_t state = state_of(rank, cell, cells);
        std::string run;
        for (; cell < cells && state_of(rank, cell, cells) == state; ++cell)
          run += state_glyph(state);
        line += state == 3 ? run : coloured(run, kStateKeys[state]);
      }
      if (remark_width > 0) line += "  " + clean(rank.remark);
      lines_.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    std::vector<std::pair<std::string, std::string>> legend;
    constexpr std::array<std::string_view, 3> kWords = {"computes or copies", "idle",
                                                        "communicates"};
    for (size_t state = 0; state < 3; ++state) {
      const std::string mark = state_glyph(state);
      const std::string words = " " + std::string(kWords[state]);
      legend.emplace_back(mark + words, coloured(mark, kStateKeys[state]) + words);
    }
    if (answer_.more_ranks > 0) {
      const std::string more =
          clean(fmt::format("\u2026 {} more", format_counted(answer_.more_ranks, "rank", "ranks")));
      legend.emplace_back(more, more);
    }
    flow_in(legend, std::min(name_width, width_ / 4));
  }

  // ---- levers, notes ----

  void middle(size_t levers, size_t with_code, size_t note_lines) {
    const bool gap = answer_.ranks.empty() && width_ >= 60;
    if (gap && (levers > 0 || !answer_.notes.empty())) lines_.emplace_back();
    for (size_t i = 0; i < levers; ++i) lever(i, i < with_code);
    if (answer_.levers.empty()) {
      for (const AnswerNote& note : answer_.notes) this->note(note, note_lines);
    }
  }

  // The semicolon-separated parts that fit on a line; all of them if not even the first fits.
  std::string whole_parts(const std::string& code) const {
    std::string fitting = code;
    while (display_width(fitting) > text_width_ - 3) {
      const size_t end = fitting.rfind("; ");
      if (end == std::string::npos) return code;
      fitting.resize(end);
    }
    return fitting;
  }

  void lever(size_t place, bool with_code) {
    const AnswerLever& lever = answer_.levers[place];
    const std::string gain = lever.gain_ns > 0 ? "\u2212" + format_ns(lever.gain_ns) : "0 ms";
    const std::string head = clean(fmt::format("{}  {:>8} {:>6}  {}", place + 1, gain,
                                               format_upper_share(lever.share), lever.grade));
    const std::string number = head.substr(0, head.find(lever.grade));
    const std::string rest = head.substr(number.size());
    if (width_ < kNarrow) {
      lines_.push_back(bold(number) + rest);
      say(lever.title, 3, 3);
      if (with_code && !lever.code.empty()) say(lever.code, 3, 5);
      return;
    }
    const std::string title = shorten_middle(clean(lever.title), text_width_ - kTitleAt, charset_);
    lines_.push_back(bold(number) + pad_text(rest, kTitleAt - display_width(number), false) +
                     title);
    if (with_code && !lever.code.empty()) {
      lines_.push_back("   " + shorten_middle(whole_parts(clean(lever.code)), text_width_ - 3, charset_));
    }
  }

  void note(const AnswerNote& note, size_t most) {
    const std::string head = pad_text(note.head, kHeadWidth, false);
    bool first = true;
    size_t told = 0;
    for (const std::string& text : note.lines) {
      if (!note.code && told++ == most) break;
      std::vector<std::string> parts;
      if (note.code) {
        // Leading blanks are part of the code.
        const size_t indent = std::min(text.find_first_not_of(' '), text.size());
        const bool fits = kHeadWidth + display_width(clean(text)) <= text_width_;
        parts = fits ? std::vector{std::string(kHeadWidth, ' ') + clean(text)}
                     : wrapped(text.substr(indent), kHeadWidth + indent, kHeadWidth + indent + 2);
      } else {
        parts = wrapped(text, kHeadWidth, kHeadWidth);
      }
      for (std::string& part : parts) {
        if (first) part = head + part.substr(kHeadWidth);
        first = false;
        lines_.push_back(std::move(part));
      }
    }
  }

  std::vector<std::string> foot() const {
    std::string confidence =
        "confidence " + std::string(findings::confidence_name(answer_.confidence));
    if (!answer_.reason.empty()) confidence += ": " + answer_.reason;
    std::vector<std::string> lines = wrapped(confidence, 0, kHeadWidth);
    const size_t told = lines.size();
    // Commands are never split.
    std::string next;
    for (const std::string& command : answer_.next) {
      const bool fits = display_width(next) + 3 + display_width(command) <= text_width_;
      if (!next.empty() && !fits) {
        lines.push_back(std::move(next));
        next.clear();
      }
      const std::string_view before = !next.empty() ? "   " : lines.size() > told ? "" : "next";
      next += !next.empty() ? std::string(before) : pad_text(before, kHeadWidth, false);
      next += shorten_middle(clean(command), text_width_ - kHeadWidth, charset_);
    }
    if (!next.empty()) lines.push_back(std::move(next));
    return lines;
  }

  const ShortAnswer& answer_;
  const TerminalOptions& options_;
  size_t width_;
  size_t text_width_;
  Charset charset_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string write_answer_text(const ShortAnswer& answer, const TerminalOptions& options) {
  return AnswerText(answer, options).write();
}

}  // namespace assay
