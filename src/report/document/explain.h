#pragma once

// Explains a word of Assay: a term of the field (data/tables/words.tsv), a cause
// (findings/causes.h), a word of earlier reports (data/tables/old_words.tsv), else a key or label
// of docs/metrics.md.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A term of the field or a symbol of a paper.
struct Word {
  std::string_view name;               // as it is shown
  std::vector<std::string_view> also;  // other names
  std::string_view what;
  std::string_view grows_by;
  std::string_view to_do;
  std::string_view key;  // the number of docs/metrics.md with the formula; may be empty
};
const std::vector<Word>& explained_terms();

// A word of earlier reports.
struct OldWord {
  std::vector<std::string_view> names;
  std::string_view now;
  std::string_view what;
  std::string_view entry;  // a term or the key of a cause; may be empty
};
const std::vector<OldWord>& old_words();

// At most 20 lines of at most `width` columns. Empty for an unknown word. Case does not matter;
// blanks, dashes and underscores are equal.
std::string explain(std::string_view word, size_t width);
// Causes with a sentence each, then the names of all terms.
std::string explain_list(size_t width);
// Every word that explain() knows, for suggestions.
std::vector<std::string> explained_words();

}  // namespace assay
