#pragma once

// Explains a term: a term of the field (data/tables/words.tsv), a cause (findings/causes.h), a term
// of earlier versions (data/tables/old_words.tsv), or a key or label of docs/metrics.md.

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// A term of the field or a symbol from a paper.
struct Word {
  std::string_view name;               // as shown
  std::vector<std::string_view> also;  // other names
  std::string_view what;
  std::string_view grows_by;
  std::string_view to_do;
  std::string_view key;  // key in docs/metrics.md with the formula; may be empty
};
const std::vector<Word>& explained_terms();

// A term that earlier versions used.
struct OldWord {
  std::vector<std::string_view> names;
  std::string_view now;
  std::string_view what;
  std::string_view entry;  // a term or the key of a cause; may be empty
};
const std::vector<OldWord>& old_words();

// At most 20 lines of at most `width` columns; empty for an unknown term. Ignores case, and treats
// blanks, dashes and underscores alike.
std::string explain(std::string_view word, size_t width);
// All causes with one sentence each, then the names of all terms.
std::string explain_list(size_t width);
// All terms that explain() knows, for suggestions.
std::vector<std::string> explained_words();

}  // namespace assay
