#include <algorithm>
#include <string>
#include <utility>

#include "text/plain_text.h"
#include "text/units.h"
#include "report/writers/grid_layout.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

constexpr size_t kNarrowestScreen = 20;
constexpr size_t kTerminalIndent = 2;
// A paragraph that quotes a hostile name must not scroll the headline off the screen.
constexpr size_t kLongestParagraph = 2000;

// A small set of styles: what to read first, what to skip, what to worry about.
enum class Paint { kNone, kBold, kDim, kWarning };

class TerminalWriter {
 public:
  explicit TerminalWriter(const TerminalOptions& options)
      : width_(static_cast<size_t>(std::max(options.width, static_cast<int>(kNarrowestScreen)))),
        charset_(options.utf8 ? Charset::kUtf8 : Charset::kAscii),
        color_(options.color) {}

  void document(const Document& document) {
    verdict(document.verdict);
    gap();
    if (!document.title.empty()) paragraph(document.title, 0, Paint::kDim);
    for (const Input& input : document.inputs) {
      paragraph("input: " + describe(input.name, input.items), 0, Paint::kDim);
    }
    for (const Input& file : document.files) {
      paragraph("with: " + describe(file.name, file.items), 0, Paint::kDim);
    }
    sections(document.sections);
    for (const Part& part : document.parts) {
      gap();
      paragraph(describe(part.name, part.items), 0, Paint::kBold);
      verdict(part.verdict);
      sections(part.sections);
      if (!part.import_log.empty()) import_log(part.import_log);
    }
    if (!document.import_log.empty()) {
      import_log(document.import_log);
    } else if (!document.inputs.empty() && document.parts.empty()) {
      gap();
      paragraph("Import log: no irregular input.", 0, Paint::kDim);
    }
  }

  // Below the short answer.
  void asked(const Document& document) { sections(sections_with_answer(document)); }

  std::string take() { return std::move(out_); }

 private:
  std::string clean(std::string_view text) const { return clean_text(text, charset_); }

  void line(const std::string& text, size_t indent, Paint paint) {
    const bool painted = color_ && paint != Paint::kNone && !text.empty();
    out_.append(text.empty() ? 0 : indent, ' ');
    if (painted) {
      out_ += paint == Paint::kBold ? "\x1b[1m" : paint == Paint::kDim ? "\x1b[2m" : "\x1b[33m";
    }
    out_ += text;
    if (painted) out_ += "\x1b[0m";
    out_ += '\n';
  }

  // An empty line, unless there is already one or the output is empty.
  void gap() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void paragraph(std::string_view text, size_t indent, Paint paint, std::string_view bullet = {}) {
    const std::string cleaned = shorten_middle(clean(text), kLongestParagraph, charset_);
    const size_t hang = display_width(bullet);
    bool first = true;
    for (const std::string& part : wrap_text(cleaned, width_ - indent - hang, charset_)) {
      line((first ? std::string(bullet) : std::string(hang, ' ')) + part, indent, paint);
      first = false;
    }
  }

  std::string_view bullet() const { return charset_ == Charset::kUtf8 ? "\u2022 " : "* "; }

  void verdict(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      paragraph(sentence, 0, &sentence == sentences.data() ? Paint::kBold : Paint::kNone);
    }
  }

  void sections(const std::vector<Section>& sections) {
    for (const Section& section : sections) {
      bool titled = section.title.empty();
      for (const Block& content : section.blocks) {
        std::visit(
            [&](const auto& shown) {
              if (!has_text(shown)) return;
              gap();
              if (!titled) paragraph(section.title, 0, Paint::kBold);
              titled = true;
              block(shown);
            },
            content);
      }
    }
  }

  void block(const Prose& prose) {
    for (const std::string& text : prose.paragraphs) {
      paragraph(text, kTerminalIndent, Paint::kNone, prose.bullets ? bullet() : std::string_view());
    }
  }

  void block(const Facts& facts) {
    if (!facts.title.empty()) paragraph(facts.title, kTerminalIndent, Paint::kBold);
    struct Line {
      std::string label;
      std::string value;
      bool number;
      std::string note;
    };
    std::vector<Line> lines;
    size_t label_width = 0;
    size_t number_width = 0;
    bool all_numbers = true;
    for (const Item& item : facts.items) {
      if (!for_readers(item.show)) continue;
      Line next{clean(item.label), clean(format_value(item.value, item.unit)),
                item.value.number().has_value() || item.value.missing(), clean(item.note)};
      all_numbers = all_numbers && next.number;
      if (next.number) number_width = std::max(number_width, display_width(next.value));
      lines.push_back(std::move(next));
    }
    // Text needs space next to its label; a number needs only its own width.
    size_t label_room = width_ / 2;
    const size_t beside = kTerminalIndent + 2 + number_width;
    if (all_numbers && width_ > beside) label_room = std::max(label_room, width_ - beside);
    for (Line& next : lines) {
      next.label = shorten_middle(next.label, label_room, charset_);
      label_width = std::max(label_width, display_width(next.label));
    }
    const size_t value_at = label_width + 2;
    const size_t room = width_ - kTerminalIndent - std::min(value_at, width_ - kTerminalIndent - 1);
    for (const Line& next : lines) {
      const std::string label = pad_text(next.label, value_at, false);
      if (!next.number) {
        bool first = true;
        for (const std::string& part :
             wrap_text(shorten_middle(next.value, kLongestParagraph, charset_), room, charset_)) {
          line((first ? label : std::string(value_at, ' ')) + part, kTerminalIndent, Paint::kNone);
          first = false;
        }
        if (!next.note.empty()) paragraph(next.note, 2 * kTerminalIndent, Paint::kDim);
        continue;
      }
      const std::string value = label + pad_text(next.value, number_width, true);
      const size_t used = kTerminalIndent + display_width(value) + 2;
      if (next.note.empty() || used + display_width(next.note) > width_) {
        line(value, kTerminalIndent, Paint::kNone);
        if (!next.note.empty()) paragraph(next.note, 2 * kTerminalIndent, Paint::kDim);
      } else {
        line(value + "  " + next.note, kTerminalIndent, Paint::kNone);
      }
    }
  }

  void block(const Table& table) { grid(make_grid(table, charset_)); }
  void block(const Tree& tree) { grid(make_grid(tree, charset_)); }
  void block(const Elements& list) {
    for (const std::vector<Section>& element : list.elements) sections(element);
  }

  void block(const Chart&) {}  // shown on the page only

  void grid(const Grid& grid) {
    if (!grid.title.empty()) paragraph(grid.title, kTerminalIndent, Paint::kBold);
    if (grid.rows.empty()) {
      line("(none)", kTerminalIndent, Paint::kDim);
      return;
    }
    const GridLines lines = layout_grid(grid, width_ - kTerminalIndent, charset_);
    for (const std::string& text : lines.header) line(text, kTerminalIndent, Paint::kDim);
    for (const std::string& text : lines.rows) line(text, kTerminalIndent, Paint::kNone);
    for (const std::string& note :
         {hidden_rows_note(grid, charset_), hidden_columns_note(lines, grid)}) {
      if (!note.empty()) paragraph(note, kTerminalIndent, Paint::kDim);
    }
  }

  void import_log(const std::vector<ImportNote>& notes) {
    gap();
    paragraph("Import log", 0, Paint::kBold);
    for (const ImportNote& note : notes) {
      paragraph(describe(note), kTerminalIndent,
                note.severity == "data_loss" ? Paint::kWarning : Paint::kNone, bullet());
    }
  }

  size_t width_;
  Charset charset_;
  bool color_;
  std::string out_;
};

}  // namespace

std::string write_terminal(const Document& document, const TerminalOptions& options) {
  TerminalWriter writer(options);
  if (!document.answer || options.full) {
    writer.document(document);
    return writer.take();
  }
  if (!options.quiet) writer.asked(document);
  const std::string asked = writer.take();
  return write_answer_text(*document.answer, options) + (asked.empty() ? "" : "\n" + asked);
}

}  // namespace assay
