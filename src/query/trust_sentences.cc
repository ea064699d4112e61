#include "query/trust_sentences.h"

#include <algorithm>

#include "text/units.h"

namespace assay {
namespace {

struct Notes {
  std::string what;
  std::string effect;  // text of the caveat with the most affected time
  int64_t count = 0;
  int64_t time_ns = 0;
  int64_t most_ns = 0;
  uint64_t inputs = 0;
  size_t last_input = 0;
  bool differ = false;  // their texts differ
};

const Value* cell(const Table& table, const Row& row, std::string_view key) {
  for (size_t i = 0; i < table.columns.size() && i < row.size(); ++i) {
    if (table.columns[i].key == key) return &row[i];
  }
  return nullptr;
}

std::string text_in(const Value* value) {
  const auto* text = value == nullptr ? nullptr : value->get<std::string>();
  return text == nullptr ? "" : *text;
}

int64_t number_in(const Value* value) {
  const auto* number = value == nullptr ? nullptr : value->get<int64_t>();
  return number == nullptr ? 0 : *number;
}

// input: 0 = the caveats of the document itself; parts count from 1.
void add_row(const Table& table, const Row& row, size_t input, std::vector<Notes>& all) {
  const std::string what = text_in(cell(table, row, "code"));
  const std::string effect = text_in(cell(table, row, "text"));
  const int64_t time_ns = number_in(cell(table, row, "time_ns"));
  if (what.empty() || effect.empty()) return;
  auto notes = std::find_if(all.begin(), all.end(),
                            [&](const Notes& n) { return input > 0 && n.what == what; });
  if (notes == all.end()) {
    notes = all.insert(all.end(), Notes{.what = what, .effect = effect, .most_ns = time_ns});
  }
  notes->count += number_in(cell(table, row, "count"));
  notes->time_ns += time_ns;
  notes->inputs += notes->last_input != input ? 1 : 0;
  notes->last_input = input;
  notes->differ |= notes->effect != effect;
  if (time_ns > notes->most_ns) {
    notes->most_ns = time_ns;
    notes->effect = effect;
  }
}

void add_sections(const std::vector<Section>& sections, size_t input, std::vector<Notes>& all) {
  for (const Section& section : sections) {
    for (const Block& block : section.blocks) {
      const auto* table = std::get_if<Table>(&block);
      if (table == nullptr || table->key != "caveats") continue;
      for (const Row& row : table->rows) add_row(*table, row, input, all);
    }
  }
}

// For the summary of a workbook, as in "clock_offset: 690, 690 us at stake. Host and ...".
std::string sentence_of(const Notes& notes, const std::string& input_name, size_t inputs) {
  std::string text = notes.what + ": " + format_count(notes.count);
  if (inputs > 0) {
    text += " on " + std::to_string(notes.inputs) + " of " +
            format_counted(inputs, input_name, input_name + "s");
  }
  if (notes.time_ns != 0) text += ", " + format_ns(notes.time_ns) + " at stake";
  text += ". " + notes.effect;
  if (notes.differ) text += " (in the words of the " + input_name + " with most)";
  return text;
}

}  // namespace

std::vector<std::string> trust_sentences(const Document& document, const std::string& input_name) {
  std::vector<Notes> whole;
  std::vector<Notes> parts;
  add_sections(document.sections, 0, whole);
  for (size_t i = 0; i < document.parts.size(); ++i) {
    add_sections(document.parts[i].sections, i + 1, parts);
  }
  std::vector<std::string> sentences;
  for (const Notes& notes : whole) sentences.push_back(sentence_of(notes, input_name, 0));
  for (const Notes& notes : parts) {
    sentences.push_back(sentence_of(notes, input_name, document.parts.size()));
  }
  return sentences;
}

}  // namespace assay
