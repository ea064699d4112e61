#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "findings/causes.h"
#include "text/plain_text.h"
#include "text/units.h"
#include "report/writers/grid_layout.h"
#include "report/writers/writers.h"

namespace assay {
namespace {

// Names of several kB make a table unreadable.
constexpr size_t kLongestName = 160;
// Trees are printed in monospace; wider ones scroll.
constexpr size_t kTreeWidth = 120;

// Escapes plain text so that Markdown shows exactly this text on one line, without markup, HTML,
// tables, mentions or links.
std::string escaped(std::string_view raw) {
  std::string text = clean_text(raw);
  // Leading spaces would make a code block, and would hide the start of the text from the rules
  // below.
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view rest = std::string_view(text).substr(i);
    switch (c) {
      case '&':
        out += "&amp;";
        continue;
      case '<':
        out += "&lt;";
        continue;
      case '>':
        out += "&gt;";
        continue;
      case '@':
        out += "&#64;";
        continue;
      default:
        break;
    }
    const bool always = std::string_view("\\`*_{}[]|~$").find(c) != std::string_view::npos;
    // Markdown turns bare addresses into links.
    const bool link =
        rest.starts_with("://") || (c == '.' && i >= 3 && text.compare(i - 3, 3, "www") == 0);
    // Only at the start of a line: headings, lists, rules, numbered lists.
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    const bool leading = i == 0 && std::string_view("#+-=").find(c) != std::string_view::npos &&
                         (next == ' ' || next == c);
    const bool numbered =
        (c == '.' || c == ')') && i > 0 && next == ' ' && text.find_first_not_of("0123456789") == i;
    if (always || link || leading || numbered) out += '\\';
    out += c;
  }
  return out;
}

class MarkdownWriter {
 public:
  void document(const Document& document) {
    if (!document.title.empty()) paragraph("# " + escaped(document.title));
    verdict(document.verdict);
    for (const Input& input : document.inputs) bullet(escaped(describe(input.name, input.items)));
    for (const Input& file : document.files) bullet(escaped(describe(file.name, file.items)));
    gap();
    sections(document.sections, "## ");
    for (const Part& part : document.parts) {
      paragraph("## " + escaped(describe(part.name, part.items)));
      verdict(part.verdict);
      sections(part.sections, "### ");
      import_log(part.import_log, "### ");
    }
    import_log(document.import_log, "## ");
  }

  // The short answer; the time breakdown bar becomes a table.
  void answer(const ShortAnswer& answer) {
    verdict(answer.verdict);
    for (const std::string& sentence : answer.more) paragraph(escaped(sentence));
    if (answer.total_ns > 0 && !answer.causes.empty()) {
      out_ += "| where the time went | time | share |\n| --- | ---: | ---: |\n";
      for (const AnswerCause& part : bar_parts(answer)) {
        out_ += "| " + escaped(findings::cause_legend(part.key)) + " | " + format_ns(part.ns) + " | " +
                format_share(static_cast<double>(part.ns) / static_cast<double>(answer.total_ns)) +
                " |\n";
      }
      gap();
    }
    ranks(answer);
    for (const AnswerLever& lever : answer.levers) {
      out_ += fmt::format("{}. **\u2212{}** ({}, {}): {}\n", &lever - answer.levers.data() + 1,
                          format_ns(lever.gain_ns), format_upper_share(lever.share), lever.grade,
                          escaped(lever.title));
      if (!lever.code.empty()) out_ += "   " + escaped(lever.code) + "\n";
    }
    gap();
    for (const AnswerNote& note : answer.notes) {
      std::string text;
      for (const std::string& line : note.lines) {
        text += (text.empty() ? "" : note.code ? "<br>" : " ") + escaped(line);
      }
      bullet("**" + note.head + "** " + text);
    }
    gap();
    paragraph("Confidence: " + std::string(findings::confidence_name(answer.confidence)) +
              (answer.reason.empty() ? "" : ", " + escaped(answer.reason)) + ".");
    std::string next;
    for (const std::string& command : answer.next) {
      next += (next.empty() ? "" : " \u00B7 ") + escaped(command);
    }
    if (!next.empty()) paragraph("Next: " + next);
    kernels(answer);
  }

  void asked(const Document& document) { sections(sections_with_answer(document), "## "); }

  // The input files with device and checksum, which a reader needs to reproduce the result.
  void inputs(const Document& document) {
    for (const Input& input : document.inputs) bullet(escaped(describe(input.name, input.items)));
    bullet("Assay " + document.tool.version);
  }

  std::string take() {
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void gap() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }
  void paragraph(const std::string& text) { out_ += text + "\n\n"; }
  void bullet(const std::string& text) { out_ += "- " + text + "\n"; }

  void verdict(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      const bool first = &sentence == sentences.data();
      paragraph(first && !sentence.empty() ? "**" + escaped(sentence) + "**" : escaped(sentence));
    }
  }

  void sections(const std::vector<Section>& sections, const std::string& heading) {
    for (const Section& section : sections) {
      bool titled = section.title.empty();
      bool folded = false;
      for (const Block& content : section.blocks) {
        std::visit(
            [&](const auto& shown) {
              if (!has_text(shown)) return;
              if (!titled && section.folded) {
                paragraph("<details><summary>" + escaped(section.title) + "</summary>");
                folded = true;
              } else if (!titled) {
                paragraph(heading + escaped(section.title));
              }
              titled = true;
              block(shown);
              gap();
            },
            content);
      }
      if (folded) paragraph("</details>");
    }
  }

  void kernels(const ShortAnswer& answer) {
    if (answer.kernels.empty() || answer.total_ns <= 0) return;
    out_ += "| kernel | kind | time | share | count | mean |\n| --- | --- | ---: | ---: | ---: | ---: |\n";
    for (const AnswerKernel& kernel : answer.kernels) {
      const double share = static_cast<double>(kernel.ns) / static_cast<double>(answer.total_ns);
      const auto count = static_cast<int64_t>(std::max<uint64_t>(kernel.count, 1));
      out_ += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cut(kernel.name), kernel.kind,
                          format_ns(kernel.ns), format_share(share), kernel.count,
                          format_ns(kernel.ns / count));
    }
    gap();
  }

  void ranks(const ShortAnswer& answer) {
    for (const AnswerRank& rank : answer.ranks) {
      if (rank.shown) bullet(escaped(rank.name + ": " + rank.remark));
    }
    if (answer.more_ranks > 0) {
      bullet("\u2026 " + format_counted(answer.more_ranks, "rank", "ranks") + " more");
    }
    gap();
  }

  void title(const std::string& text) {
    if (!text.empty()) paragraph("**" + escaped(text) + "**");
  }

  void block(const Prose& prose) {
    for (const std::string& text : prose.paragraphs) {
      if (prose.bullets) {
        bullet(escaped(text));
      } else {
        paragraph(escaped(text));
      }
    }
  }

  void block(const Facts& facts) {
    title(facts.title);
    for (const Item& item : facts.items) {
      if (!for_readers(item.show)) continue;
      std::string text =
          escaped(item.label) + ": **" + cut(format_value(item.value, item.unit)) + "**";
      if (!item.note.empty()) text += " (" + escaped(item.note) + ")";
      bullet(text);
    }
  }

  void block(const Elements& list) {
    for (const std::vector<Section>& element : list.elements) sections(element, "### ");
  }

  void block(const Chart&) {}  // shown on the page only

  void block(const Table& table) {
    const Grid grid = make_grid(table, Charset::kUtf8);
    title(grid.title);
    if (grid.rows.empty()) {
      paragraph("(none)");
      return;
    }
    std::string head = "|";
    std::string rule = "|";
    for (const GridColumn& column : grid.columns) {
      head += " " + escaped(column.title) + " |";
      rule += column.right ? " ---: |" : " --- |";
    }
    out_ += head + "\n" + rule + "\n";
    for (const auto& row : grid.rows) {
      out_ += "|";
      for (const std::string& cell : row) out_ += " " + cut(cell) + " |";
      out_ += "\n";
    }
    notes(grid);
  }

  void block(const Tree& tree) {
    const Grid grid = make_grid(tree, Charset::kUtf8);
    title(grid.title);
    if (grid.rows.empty()) {
      paragraph("(none)");
      return;
    }
    const GridLines lines = layout_grid(grid, kTreeWidth, Charset::kUtf8);
    std::string body;
    for (const std::string& line : lines.header) body += line + "\n";
    for (const std::string& line : lines.rows) body += line + "\n";
    const std::string fence(std::max<size_t>(3, longest_run(body, '`') + 1), '`');
    out_ += fence + "text\n" + body + fence + "\n";
    notes(grid);
  }

  void notes(const Grid& grid) {
    const std::string note = hidden_rows_note(grid, Charset::kUtf8);
    if (note.empty()) return;
    gap();
    paragraph(escaped(note));
  }

  void import_log(const std::vector<ImportNote>& notes, const std::string& heading) {
    if (notes.empty()) return;
    paragraph(heading + "Import log");
    for (const ImportNote& note : notes) bullet(escaped(describe(note)));
    gap();
  }

  static std::string cut(const std::string& text) {
    return escaped(shorten_middle(clean_text(text), kLongestName));
  }

  static size_t longest_run(const std::string& text, char wanted) {
    size_t longest = 0;
    size_t run = 0;
    for (const char c : text) {
      run = c == wanted ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }

  std::string out_;
};

}  // namespace

std::string write_markdown(const Document& document, bool full) {
  MarkdownWriter writer;
  if (document.answer && !full) {
    writer.answer(*document.answer);
    writer.asked(document);
    writer.inputs(document);
  } else {
    writer.document(document);
  }
  return writer.take();
}

}  // namespace assay
