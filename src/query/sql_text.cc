#include "query/duckdb.h"

namespace assay {
namespace {

std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out + quote;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (c & '\x80') != 0;
}

// Position after the next `end` at or after `from`; the end of the text if there is none.
size_t behind(std::string_view text, std::string_view end, size_t from) {
  const size_t found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

// Position after a quoted text that starts at `at`. A doubled quote ends it and starts another one,
// which has the same effect. backslashes (E'...'): an escaped quote does not end it.
size_t behind_quotes(std::string_view text, size_t at, bool backslashes) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (backslashes && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return text.size();
}

// Position after $tag$ ... $tag$; at + 1 if no such quote starts here.
size_t behind_dollars(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end == text.size() || text[end] != '$' || (at > 0 && is_word(text[at - 1]))) return at + 1;
  const std::string_view tag = text.substr(at, end - at + 1);
  return behind(text, tag, end + 1);
}

// Position after a comment in /* */, which may contain others.
size_t behind_comment(std::string_view text, size_t at) {
  size_t depth = 1;
  size_t i = at + 2;
  while (i < text.size() && depth > 0) {
    const std::string_view two = text.substr(i, 2);
    if (two == "/*") ++depth;
    if (two == "*/") --depth;
    i += two == "/*" || two == "*/" ? 2 : 1;
  }
  return i;
}

// Position after the token at `at`. blank: true for a space or comment.
size_t behind_token(std::string_view text, size_t at, bool& blank) {
  const char c = text[at];
  const std::string_view two = text.substr(at, 2);
  blank = true;
  if (c == ' ' || (c >= '\t' && c <= '\r')) return at + 1;
  if (two == "--") return behind(text, "\n", at);
  if (two == "/*") return behind_comment(text, at);
  blank = false;
  const bool escape =
      at > 0 && (text[at - 1] == 'e' || text[at - 1] == 'E') && (at < 2 || !is_word(text[at - 2]));
  if (c == '\'') return behind_quotes(text, at, escape);
  if (c == '"') return behind_quotes(text, at, false);
  if (c == '$') return behind_dollars(text, at);
  return at + 1;
}

}  // namespace

std::string sql_text(std::string_view text) { return quoted(text, '\''); }
std::string sql_identifier(std::string_view name) { return quoted(name, '"'); }

Statements split_statements(std::string_view text) {
  Statements statements;
  size_t begin = 0;
  bool empty = true;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == ';') {
      if (!empty) statements.complete.emplace_back(text.substr(begin, at - begin));
      begin = ++at;
      empty = true;
      continue;
    }
    bool blank = false;
    at = behind_token(text, at, blank);
    empty &= blank;
  }
  if (!empty) statements.rest = std::string(text.substr(begin));
  return statements;
}

}  // namespace assay
