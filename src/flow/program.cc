#include "flow/program.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "base/ascii.h"
#include "base/tab_table.h"

namespace assay {

// data/tables/programs.tsv as of the build.
std::string_view programs_text();

namespace {

constexpr std::string_view kLayers[kProgramLayers] = {"engine", "trainer", "library", "parallel",
                                                      "framework"};
constexpr std::string_view kTables[kProgramTables] = {"frames", "ops", "labels", "kernels",
                                                      "threads"};

// One text of a rule: `literal` is searched for, `rest` is compared there.
struct Text {
  std::string_view literal;  // up to the first number
  std::string_view rest;
  bool at_begin = false;
};

struct Rule {
  size_t program = 0;
  uint64_t weight = 0;
  std::vector<Text> texts;
};

struct ProgramRules {
  // In the order of the table, with nothing seen.
  std::vector<ProgramSeen> programs;
  std::array<std::vector<Rule>, kProgramTables> of_table;
};

template <size_t N>
size_t place_of(const std::string_view (&words)[N], std::string_view word) {
  return static_cast<size_t>(std::find(words, words + N, word) - words);
}

bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

// True if `name` starts with `text`, in which `~` matches a number.
bool goes_on(std::string_view name, std::string_view text) {
  for (const char c : text) {
    if (c != '~') {
      if (name.empty() || name.front() != c) return false;
      name.remove_prefix(1);
      continue;
    }
    if (name.empty() || !is_digit(name.front())) return false;
    while (!name.empty() && is_digit(name.front())) name.remove_prefix(1);
  }
  return true;
}

bool matches(const Text& text, std::string_view name) {
  if (text.at_begin) {
    return name.starts_with(text.literal) && goes_on(name.substr(text.literal.size()), text.rest);
  }
  for (size_t at = name.find(text.literal); at != std::string_view::npos;
       at = name.find(text.literal, at + 1)) {
    const bool begins = at == 0 || !is_word(name[at - 1]);
    if (begins && goes_on(name.substr(at + text.literal.size()), text.rest)) return true;
  }
  return false;
}

std::vector<Text> texts_of(std::string_view alternatives) {
  std::vector<Text> texts;
  for (std::string_view part : list_parts(alternatives, '|')) {
    Text text;
    text.at_begin = part.starts_with('^');
    if (text.at_begin) part.remove_prefix(1);
    const size_t number = std::min(part.find('~'), part.size());
    text.literal = part.substr(0, number);
    text.rest = part.substr(number);
    texts.push_back(text);
  }
  return texts;
}

ProgramRules read_rules() {
  ProgramRules rules;
  for (const auto& row : tab_rows(programs_text(), 7)) {
    if (rules.programs.empty() || rules.programs.back().key != row[0]) {
      const auto layer = static_cast<ProgramLayer>(place_of(kLayers, row[2]));
      rules.programs.push_back({.key = row[0], .name = row[1], .layer = layer});
    }
    Rule rule{.program = rules.programs.size() - 1, .texts = texts_of(row[5])};
    std::from_chars(row[4].data(), row[4].data() + row[4].size(), rule.weight);
    rules.of_table[place_of(kTables, row[3])].push_back(std::move(rule));
  }
  return rules;
}

const ProgramRules& program_rules() {
  static const ProgramRules rules = read_rules();
  return rules;
}

// visit(text) for the distinct texts of some columns.
template <typename Visit>
void each_distinct(const Trace& trace, std::initializer_list<const std::vector<StringId>*> columns,
                   Visit&& visit) {
  // Bytes are faster than vector<bool>: a trace has millions of names.
  std::vector<char> asked(trace.strings.size(), 0);
  for (const std::vector<StringId>* column : columns) {
    for (const StringId name : *column) {
      if (asked[name.index()] != 0) continue;
      asked[name.index()] = 1;
      visit(trace.text(name));
    }
  }
}

// Counts the names that rules of `table` match, and adds each rule's weight once.
class Recognised {
 public:
  Recognised() : seen_(program_rules().programs) {}

  void look(const Trace& trace, ProgramTable table, const std::vector<StringId>& names) {
    begin(table);
    each_distinct(trace, {&names}, [this](std::string_view name) { look(name); });
  }
  void look_at_threads(const Trace& trace) {
    begin(ProgramTable::kThreads);
    for (const Thread& thread : trace.threads) look(thread.name);
  }

  // The program with the largest weight of each layer; all libraries and kinds of parallelism.
  std::vector<ProgramSeen> take() const {
    std::vector<ProgramSeen> found;
    for (size_t layer = 0; layer < kProgramLayers; ++layer) {
      std::vector<ProgramSeen> here;
      for (const ProgramSeen& one : seen_) {
        if (one.weight > 0 && static_cast<size_t>(one.layer) == layer) here.push_back(one);
      }
      std::stable_sort(here.begin(), here.end(), [](const ProgramSeen& a, const ProgramSeen& b) {
        return a.weight != b.weight ? a.weight > b.weight : a.all_names() > b.all_names();
      });
      const auto of = static_cast<ProgramLayer>(layer);
      const bool several = of == ProgramLayer::kLibrary || of == ProgramLayer::kParallel;
      if (!several && here.size() > 1) here.resize(1);
      found.insert(found.end(), here.begin(), here.end());
    }
    return found;
  }

 private:
  void begin(ProgramTable table) {
    table_ = static_cast<size_t>(table);
    weighed_.assign(program_rules().of_table[table_].size(), false);
  }
  void look(std::string_view name) {
    const std::vector<Rule>& rules = program_rules().of_table[table_];
    for (size_t r = 0; r < rules.size(); ++r) {
      const auto fits = [name](const Text& text) { return matches(text, name); };
      if (std::none_of(rules[r].texts.begin(), rules[r].texts.end(), fits)) continue;
      ProgramSeen& program = seen_[rules[r].program];
      ++program.names[table_];
      if (!weighed_[r]) program.weight += rules[r].weight;
      weighed_[r] = true;
    }
  }

  std::vector<ProgramSeen> seen_;
  size_t table_ = 0;
  std::vector<bool> weighed_;
};

// True if a name of one of the columns has one of the parts.
bool any_name(const Trace& trace, std::initializer_list<const std::vector<StringId>*> columns,
              std::initializer_list<std::string_view> parts) {
  bool found = false;
  each_distinct(trace, columns,
                [&](std::string_view name) { found = found || contains_any(name, parts); });
  return found;
}

}  // namespace

std::string_view program_layer_name(ProgramLayer layer) {
  return kLayers[static_cast<size_t>(layer)];
}

uint64_t ProgramSeen::all_names() const {
  uint64_t sum = 0;
  for (const uint64_t count : names) sum += count;
  return sum;
}

bool Program::uses(std::string_view key) const {
  return std::any_of(seen.begin(), seen.end(),
                     [key](const ProgramSeen& one) { return one.key == key; });
}

const ProgramSeen* Program::engine() const {
  const bool any = !seen.empty() && seen.front().layer == ProgramLayer::kEngine;
  return any ? &seen.front() : nullptr;
}

bool matches_program(std::string_view alternatives, std::string_view name) {
  const std::vector<Text> texts = texts_of(alternatives);
  return std::any_of(texts.begin(), texts.end(),
                     [name](const Text& text) { return matches(text, name); });
}

Program program_of(const Trace& trace) {
  Program program;
  const auto& calls = trace.api_calls.name;
  program.hip = any_name(trace, {&calls}, {"hip"});
  program.cuda = !program.hip && any_name(trace, {&calls}, {"cuda", "cuLaunch", "cuMem"});
  program.mpi = any_name(
      trace, {&trace.annotations.name, &trace.ops.name, &trace.other_events.name}, {"MPI_"});
  program.trains = any_name(trace, {&trace.ops.name, &trace.annotations.name},
                            {"Backward", "autograd::engine", "Optimizer.step"});
  Recognised recognised;
  recognised.look(trace, ProgramTable::kFrames, trace.frames.name);
  recognised.look(trace, ProgramTable::kOps, trace.ops.name);
  recognised.look(trace, ProgramTable::kLabels, trace.annotations.name);
  recognised.look(trace, ProgramTable::kKernels, trace.activities.name);
  recognised.look_at_threads(trace);
  program.seen = recognised.take();
  program.kind = program.uses("pytorch")      ? ProgramKind::kPyTorch
                 : program.uses("jax")        ? ProgramKind::kJax
                 : program.uses("tensorflow") ? ProgramKind::kTensorFlow
                 : program.hip                ? ProgramKind::kHip
                 : program.cuda               ? ProgramKind::kCuda
                 : any_name(trace, {&calls}, {"urEnqueue", "piEnqueue", "zeCommand"})
                     ? ProgramKind::kSycl
                     : ProgramKind::kUnknown;
  return program;
}

}  // namespace assay
