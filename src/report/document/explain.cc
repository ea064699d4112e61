#include "report/document/explain.h"

#include <algorithm>
#include <cctype>

#include "base/tab_table.h"
#include "findings/causes.h"
#include "report/document/definitions.h"
#include "text/plain_text.h"

namespace assay {

// The tables of terms at build time.
std::string_view words_text();
std::string_view old_words_text();

namespace {

constexpr size_t kMostLines = 20;
constexpr size_t kHead = 10;

// Normalizes input: lower case, blanks and dashes as underscores.
std::string normal(std::string_view word) {
  std::string text;
  for (const char c : word) {
    const bool gap = c == ' ' || c == '-';
    text += gap ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// A key without its unit suffix.
std::string stem(std::string_view key) {
  for (const std::string_view ending : {"_ns", "_share", "_bytes", "_w", "_j", "_hz"}) {
    if (key.ends_with(ending)) return normal(key.substr(0, key.size() - ending.size()));
  }
  return normal(key);
}

// "Launch and queue time: TKLQT" as an anchor in docs/metrics.md.
std::string anchor(std::string_view heading) {
  std::string text;
  for (const char c : heading) {
    if (c == ' ') text += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return text;
}

class Lines {
 public:
  explicit Lines(size_t width) : width_(std::clamp<size_t>(width, 40, 100)) {}
  void plain(const std::string& line) { lines_.push_back(line); }
  void headed(std::string_view head, std::string_view text) {
    if (text.empty()) return;
    bool first = true;
    for (const std::string& part : wrap_text(clean_text(text), width_ - kHead)) {
      lines_.push_back(pad_text(first ? head : "", kHead, false) + part);
      first = false;
    }
  }
  void wrapped(std::string_view text) {
    for (const std::string& part : wrap_text(clean_text(text), width_ - 2)) {
      lines_.push_back("  " + part);
    }
  }
  std::string take() {
    if (lines_.size() > kMostLines) {
      lines_.resize(kMostLines - 1);
      lines_.emplace_back("  \u2026 more in docs/metrics.md");
    }
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  size_t width_;
  std::vector<std::string> lines_;
};

bool has_name(const std::vector<std::string_view>& names, const std::string& wanted) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return normal(name) == wanted; });
}

bool is_named(const Definition& definition, const std::string& wanted) {
  for (const std::string& key : definition.keys) {
    if (normal(key) == wanted || stem(key) == wanted) return true;
  }
  return normal(definition.label) == wanted;
}

// Definitions with a label come first: they are more informative than rows that only list a key.
std::vector<Definition> definitions_of(const std::string& wanted) {
  std::vector<Definition> found;
  for (Definition& definition : parse_definitions(metrics_text())) {
    if (is_named(definition, wanted)) found.push_back(std::move(definition));
  }
  std::stable_sort(found.begin(), found.end(), [](const Definition& a, const Definition& b) {
    return !a.label.empty() && b.label.empty();
  });
  return found;
}

const Word* term_called(const std::string& wanted) {
  for (const Word& word : explained_terms()) {
    if (normal(word.name) == wanted || has_name(word.also, wanted)) return &word;
  }
  return nullptr;
}

// The term with this key, with or without unit suffix.
const Word* term_of_key(const std::string& wanted) {
  for (const Word& word : explained_terms()) {
    if (!word.key.empty() && (normal(word.key) == wanted || stem(word.key) == wanted)) return &word;
  }
  return nullptr;
}

const findings::CauseInfo* cause_called(const std::string& wanted, bool by_legend) {
  for (const findings::CauseInfo& cause : findings::all_causes()) {
    if (by_legend ? normal(cause.legend) == wanted
                  : normal(cause.key) == wanted || normal(cause.name) == wanted) {
      return &cause;
    }
  }
  return nullptr;
}

const OldWord* old_word_called(const std::string& wanted) {
  for (const OldWord& word : old_words()) {
    if (has_name(word.names, wanted)) return &word;
  }
  return nullptr;
}

// Appends keys, section and location of the formula, and other definitions of the same name with
// their headings.
void add_definitions(Lines& lines, const std::vector<Definition>& found) {
  const Definition& first = found.front();
  std::string keys;
  for (const std::string& key : first.keys) keys += (keys.empty() ? "" : "  ") + key;
  lines.headed("keys", keys);
  lines.headed("section", first.room + (first.heading == first.room ? "" : ", " + first.heading));
  lines.headed("exactly", "docs/metrics.md#" + anchor(first.heading));
  std::vector<std::string> listed = {first.heading};
  for (const Definition& more : found) {
    if (std::find(listed.begin(), listed.end(), more.heading) != listed.end()) continue;
    listed.push_back(more.heading);
    if (listed.size() > 4) break;
    lines.headed("also", more.heading + ": " + more.text);
  }
}

void add_term(Lines& lines, const Word& word) {
  const std::vector<Definition> found =
      word.key.empty() ? std::vector<Definition>{} : definitions_of(normal(word.key));
  lines.plain(word.key.empty() ? std::string(word.name)
                               : std::string(word.name) + " (" + std::string(word.key) + ")");
  lines.wrapped(word.what);
  lines.headed("grows by", word.grows_by);
  lines.headed("to do", word.to_do);
  if (found.empty()) return;
  lines.headed("formula", found.front().text);
  add_definitions(lines, found);
}

void add_cause(Lines& lines, const findings::CauseInfo& cause) {
  lines.plain(std::string(cause.name) + " (" + std::string(cause.key) + ")");
  lines.wrapped(cause.sentence);
  lines.headed("to do", cause.what_to_do);
  lines.headed("exactly", "docs/metrics.md#causes; shares are of the wall time of the window");
}

void add_old_word(Lines& lines, const OldWord& word, const std::string& wanted) {
  lines.plain(std::string(word.names.front()) + ": now " + std::string(word.now));
  lines.wrapped(word.what);
  if (const Word* term = term_called(normal(word.entry))) {
    lines.plain("");
    return add_term(lines, *term);
  }
  if (const findings::CauseInfo* cause = cause_called(normal(word.entry), false)) {
    lines.plain("");
    return add_cause(lines, *cause);
  }
  // A key of the data may have the same name.
  const std::vector<Definition> found = definitions_of(wanted);
  if (found.empty()) return;
  lines.headed("as key", found.front().text);
  add_definitions(lines, found);
}

}  // namespace

const std::vector<Word>& explained_terms() {
  static const std::vector<Word> kWords = [] {
    std::vector<Word> words;
    for (const std::vector<std::string_view>& row : tab_rows(words_text(), 6)) {
      words.push_back({row[0], list_parts(row[1], ','), row[2], row[3], row[4], row[5]});
    }
    return words;
  }();
  return kWords;
}

const std::vector<OldWord>& old_words() {
  static const std::vector<OldWord> kWords = [] {
    std::vector<OldWord> words;
    for (const std::vector<std::string_view>& row : tab_rows(old_words_text(), 4)) {
      words.push_back({list_parts(row[0], ','), row[1], row[2], row[3]});
    }
    return words;
  }();
  return kWords;
}

std::string explain(std::string_view word, size_t width) {
  const std::string wanted = normal(word);
  if (wanted.empty()) return "";
  Lines lines(width);
  if (const Word* term = term_called(wanted)) {
    add_term(lines, *term);
  } else if (const findings::CauseInfo* cause = cause_called(wanted, false)) {
    add_cause(lines, *cause);
  } else if (const OldWord* old = old_word_called(wanted)) {
    add_old_word(lines, *old, wanted);
  } else if (const Word* symbol = term_of_key(wanted)) {
    add_term(lines, *symbol);
  } else if (const findings::CauseInfo* in_legend = cause_called(wanted, true)) {
    add_cause(lines, *in_legend);
  } else {
    const std::vector<Definition> found = definitions_of(wanted);
    if (found.empty()) return "";
    const Definition& first = found.front();
    lines.plain(first.label.empty() ? first.keys.front()
                                    : first.label + " (" + first.keys.front() + ")");
    lines.wrapped(first.text);
    add_definitions(lines, found);
  }
  return lines.take();
}

std::string explain_list(size_t width) {
  std::string text =
      "assay explain WORD, where WORD is a cause, a term, or any key or label of "
      "docs/metrics.md:\n\n";
  for (const findings::CauseInfo& cause : findings::all_causes()) {
    const std::string what(cause.sentence.substr(0, cause.sentence.find(". ")));
    text += "  " + pad_text(cause.key, 15, false) +
            shorten_middle(clean_text(what), std::max<size_t>(width, 40) - 17) + "\n";
  }
  std::string names;
  for (const Word& word : explained_terms()) {
    names += (names.empty() ? "" : ", ") + std::string(word.name);
  }
  text += "\n";
  for (const std::string& line : wrap_text(names, std::max<size_t>(width, 40) - 2)) {
    text += "  " + line + "\n";
  }
  return text;
}

std::vector<std::string> explained_words() {
  std::vector<std::string> words;
  for (const findings::CauseInfo& cause : findings::all_causes()) words.emplace_back(cause.key);
  for (const Word& word : explained_terms()) {
    words.push_back(normal(word.name));
    for (const std::string_view name : word.also) words.push_back(normal(name));
  }
  for (const Definition& definition : parse_definitions(metrics_text())) {
    for (const std::string& key : definition.keys) {
      words.push_back(key);
      if (stem(key) != key) words.push_back(stem(key));
    }
  }
  return words;
}

}  // namespace assay
