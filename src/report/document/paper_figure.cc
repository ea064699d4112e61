#include "report/document/paper_figure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <type_traits>

#include "report/document/names.h"
#include "text/plain_text.h"

namespace assay {
namespace {

constexpr std::array kPapers = {"skip", "taxbreak", "chopper", "fingrav", "ala"};
constexpr std::array kRoman = {"i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

// "7a" and "iv" as "7a" and "4"; empty for other words.
std::string number_of_word(const std::string& word) {
  const auto roman = std::find(kRoman.begin(), kRoman.end(), word);
  if (roman != kRoman.end()) return std::to_string(roman - kRoman.begin() + 1);
  const auto end = std::find_if_not(word.begin(), word.end(), is_digit);
  return end != word.begin() && word.end() - end <= 1 ? word : std::string();
}

// The name without the letter of a part: "skip7" for "skip7a".
std::string_view whole_figure(std::string_view name) {
  if (name.size() > 1 && !is_digit(name.back()) && is_digit(name[name.size() - 2]))
    name.remove_suffix(1);
  return name;
}

bool is_table_name(const std::string& name) {
  const size_t digit = std::find_if(name.begin(), name.end(), is_digit) - name.begin();
  return digit > 0 && digit < name.size() &&
         std::string_view("teTE").find(name[digit - 1]) != std::string_view::npos &&
         std::find(kPapers.begin(), kPapers.end(), lower(name.substr(0, digit - 1))) !=
             kPapers.end();
}

bool is_asked(const std::string& cited, const std::string& asked) {
  const std::string have = lower(cited);
  const std::string want = lower(asked);
  if (whole_figure(have) != whole_figure(want)) return false;
  return have == want || have == whole_figure(have) || want == whole_figure(want);
}

std::string_view title_alone(std::string_view title) {
  if (!cited_figures(title).empty()) title = title.substr(0, title.rfind('('));
  while (title.ends_with(' ')) title.remove_suffix(1);
  return title;
}

Value at(const std::vector<double>& values, size_t i) {
  return i < values.size() ? Value(values[i]) : Value();
}

bool is_empty(const Chart& chart) {
  return std::all_of(chart.series.begin(), chart.series.end(),
                     [](const Series& one) { return one.y.empty(); });
}
bool is_empty(const Table& table) { return table.rows.empty(); }
bool is_empty(const Tree& tree) { return tree.nodes.empty(); }
bool is_empty(const Facts& facts) { return facts.items.empty(); }

// Calls what(block) for every chart, table and list of facts, also in elements.
template <typename F>
void for_blocks(const std::vector<Section>& sections, const F& what) {
  for (const Section& section : sections) {
    for (const Block& content : section.blocks) {
      std::visit(
          [&](const auto& block) {
            using B = std::decay_t<decltype(block)>;
            if constexpr (std::is_same_v<B, Elements>) {
              for (const std::vector<Section>& element : block.elements) for_blocks(element, what);
            } else if constexpr (!std::is_same_v<B, Prose>) {
              what(block);
            }
          },
          content);
    }
  }
}

void add_caveats(const std::vector<Section>& from, std::vector<Section>& to) {
  for (const Section& section : from) {
    for (const Block& block : section.blocks) {
      const Table* table = std::get_if<Table>(&block);
      if (table == nullptr || table->key != "caveats") continue;
      to.push_back({.key = section.key, .title = section.title, .blocks = {*table}});
    }
  }
}

class Figure {
 public:
  explicit Figure(std::string name) : name_(std::move(name)) {}

  void add(const std::vector<Section>& sections, const std::string& part) {
    for_blocks(sections, [&](const auto& block) {
      if (is_empty(block)) return;
      const std::vector<std::string> cited = cited_figures(block.title);
      for (const std::string& name : cited) {
        if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
      }
      using B = std::decay_t<decltype(block)>;
      if (name_ == "list") {
        for (const std::string& name : cited) {
          names_.rows.push_back({name, std::is_same_v<B, Chart> ? "chart" : "table",
                                 std::string(title_alone(block.title))});
        }
      } else if (std::any_of(cited.begin(), cited.end(),
                             [&](const auto& one) { return is_asked(one, name_); })) {
        take(block, part);
      }
    });
  }

  Result<Section> section(bool on_page) && {
    Section out{.key = std::string(kFigureSection), .title = name_};
    if (name_ == "list") out.blocks.emplace_back(std::move(names_));
    // "taxbreakT4" is a table of the paper, also where a chart shows it.
    const bool as_table = !tables_.empty() && (charts_.empty() || is_table_name(name_));
    for (Chart& chart : charts_) out.blocks.emplace_back(std::move(chart));
    if (!charts_.empty() && !as_table) {
      points_.show = on_page ? Show::kDataOnly : Show::kEverywhere;
      out.blocks.emplace_back(std::move(points_));
    } else {
      for (Block& table : tables_) out.blocks.emplace_back(std::move(table));
    }
    if (!out.blocks.empty()) return out;
    return Error{ErrorCode::kInvalidArgument,
                 "this answer has no figure " + clean_text(name_) +
                     (known_.empty() ? ", nor any other" : ". It has " + joined_words(known_)) +
                     "; docs/papers.md names the command of each figure",
                 "", -1};
  }

 private:
  void take(const Chart& chart, const std::string& part) {
    charts_.push_back(chart);
    for (const Series& series : chart.series) {
      for (size_t i = 0; i < series.y.size(); ++i) {
        Value x = i;
        if (!series.x.empty()) x = at(series.x, i);
        const std::optional<double> place = x.number();
        if (!chart.categories.empty() && place && *place >= 0 &&
            *place < static_cast<double>(chart.categories.size())) {
          x = chart.categories[static_cast<size_t>(*place)];
        }
        Row& row =
            point(part, chart, series.name, mark_name(series.mark), std::move(x), at(series.y, i));
        row.insert(row.end(), {at(series.low, i), at(series.high, i)});
        if (i < series.labels.size()) row.emplace_back(series.labels[i]);
      }
    }
    for (const Guide& guide : chart.guides) {
      const bool upright = guide.across == Guide::Across::kX;
      point(part, chart, guide.label, "guide", upright ? Value(guide.value) : Value(),
            upright ? Value() : Value(guide.value));
    }
  }

  Row& point(const std::string& part, const Chart& chart, const std::string& series,
             const char* mark, Value x, Value y) {
    const char* x_unit = chart.categories.empty() ? unit_name(chart.x.unit) : "text";
    return points_.rows.emplace_back(Row{
        part.empty() ? Value() : part, std::string(title_alone(chart.title)), series, mark,
        chart.x.title, x_unit, std::move(x), chart.y.title, unit_name(chart.y.unit), std::move(y)});
  }

  // Facts and tables; those for readers alone have no key.
  template <typename B>
  void take(B block, const std::string& part) {
    block.show = Show::kEverywhere;
    if (block.key.empty()) block.key = name_;
    if (!part.empty()) block.key = part + "." + block.key;
    tables_.emplace_back(std::move(block));
  }

  std::string name_;
  std::vector<std::string> known_;
  std::vector<Chart> charts_;
  std::vector<Block> tables_;
  Table names_{.key = "figures",
               .title = "Figures of the papers in this answer",
               .columns = {{"name", "name", Unit::kText},
                           {"kind", "kind", Unit::kText},
                           {"title", "title", Unit::kText}},
               .terminal_limit = 0};
  Table points_{.key = "points",
                .title = "Points",
                .columns = {{"part", "part", Unit::kText},
                            {"panel", "panel", Unit::kText},
                            {"series", "series", Unit::kText},
                            {"mark", "mark", Unit::kText},
                            {"x_axis", "x axis", Unit::kText},
                            {"x_unit", "x unit", Unit::kText},
                            {"x", "x"},
                            {"y_axis", "y axis", Unit::kText},
                            {"y_unit", "y unit", Unit::kText},
                            {"y", "y"},
                            {"low", "low"},
                            {"high", "high"},
                            {"label", "label", Unit::kText}}};
};

}  // namespace

std::vector<std::string> cited_figures(std::string_view title) {
  std::vector<std::string> names;
  std::string paper;
  std::string kind;
  const size_t open = title.rfind('(');
  if (open == std::string_view::npos) return names;
  for (const std::string& word : words_of(title.substr(open))) {
    if (std::find(kPapers.begin(), kPapers.end(), word) != kPapers.end()) {
      paper = word;
    } else if (word == "figure" || word == "figures") {
      kind = " ";
    } else if (word == "table" || word == "tables") {
      kind = "T";
    } else if (word == "eq") {
      kind = "E";
    } else if (const std::string number = number_of_word(word);
               !paper.empty() && !kind.empty() && !number.empty()) {
      names.push_back(paper + (kind == " " ? "" : kind) + number);
    }
  }
  return names;
}

Result<Document> only_figure(const Document& document, const std::string& name, bool on_page) {
  Figure figure(name);
  figure.add(document.sections, "");
  for (const Part& part : document.parts) figure.add(part.sections, part.name);
  ASSAY_TRY_ASSIGN(Section section, std::move(figure).section(on_page));
  Document out{.schema_version = document.schema_version,
               .tool = document.tool,
               .title = document.title,
               .inputs = document.inputs,
               .files = document.files,
               .import_log = document.import_log};
  out.parts_key = document.parts_key;
  out.sections.push_back(std::move(section));
  add_caveats(document.sections, out.sections);
  for (const Part& part : document.parts) {
    Part& kept = out.parts.emplace_back(
        Part{.name = part.name, .items = part.items, .import_log = part.import_log});
    add_caveats(part.sections, kept.sections);
  }
  return out;
}

}  // namespace assay
