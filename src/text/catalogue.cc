#include "text/catalogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "text/messages.h"

namespace assay::text {
namespace {

struct Parsed {
  std::vector<Message> messages;
  std::string fault;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Escapes: \\[ and \\] are literal brackets, \\n is a line break. Escaped brackets are replaced by
// these characters until the literal is built, to distinguish them from brackets of optional parts.
constexpr char kOpen = '\1';
constexpr char kClose = '\2';

std::string with_escapes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char next = text[++i];
    plain += next == 'n' ? '\n' : next == '[' ? kOpen : next == ']' ? kClose : next;
  }
  return plain;
}

std::string literal(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), kOpen, '[');
  std::replace(plain.begin(), plain.end(), kClose, ']');
  return plain;
}

// Parses a placeholder, the text between braces.
Token place_of(std::string_view place) {
  Token token;
  const size_t mark = place.find_first_of("#?~+@:");
  token.text = place.substr(0, mark);
  token.kind = Token::Kind::kValue;
  if (mark == std::string_view::npos) return token;
  const std::string_view rest = place.substr(mark + 1);
  token.with_sign = place[mark] == '+';
  if (token.with_sign) return token;
  if (place[mark] == '@') {
    token.kind = Token::Kind::kRanks;
    return token;
  }
  if (place[mark] == ':') {
    token.decimals = static_cast<int>(std::strtol(std::string(rest).c_str(), nullptr, 10));
    return token;
  }
  if (place[mark] == '~') {
    token.whole = rest == "*";
    token.columns = static_cast<size_t>(std::strtoul(std::string(rest).c_str(), nullptr, 10));
    return token;
  }
  token.kind = place[mark] == '#' ? Token::Kind::kCounted : Token::Kind::kPlural;
  const size_t bar = rest.find('|');
  token.one = rest.substr(0, bar);
  token.many = bar == std::string_view::npos ? rest : rest.substr(bar + 1);
  return token;
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    const size_t open = text.find('{');
    if (open > 0) tokens.push_back({.text = literal(text.substr(0, open))});
    if (open == std::string_view::npos) break;
    const size_t close = text.find('}', open);
    tokens.push_back(place_of(text.substr(open + 1, close - open - 1)));
    text = close == std::string_view::npos ? std::string_view() : text.substr(close + 1);
  }
  return tokens;
}

std::vector<MessagePiece> pieces_of(std::string_view text) {
  std::vector<MessagePiece> pieces;
  while (!text.empty()) {
    const size_t open = text.find('[');
    if (open > 0) pieces.push_back({false, tokens_of(text.substr(0, open))});
    if (open == std::string_view::npos) break;
    const size_t close = text.find(']', open);
    pieces.push_back({true, tokens_of(text.substr(open + 1, close - open - 1))});
    text = close == std::string_view::npos ? std::string_view() : text.substr(close + 1);
  }
  return pieces;
}

std::vector<DeclaredValue> values_of(std::string_view text) {
  std::vector<DeclaredValue> values;
  while (!(text = trimmed(text)).empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view one = text.substr(0, end);
    const size_t colon = one.find(':');
    values.push_back({std::string(one.substr(0, colon)),
                      std::string(colon == std::string_view::npos ? "" : one.substr(colon + 1))});
    text = text.substr(end);
  }
  return values;
}

// Checks that every placeholder of a message is declared and every declared value is used.
std::string undeclared(const Message& message) {
  for (const MessagePiece& piece : message.pieces) {
    for (const Token& token : piece.tokens) {
      if (token.kind == Token::Kind::kLiteral) continue;
      if (std::none_of(message.values.begin(), message.values.end(),
                       [&](const DeclaredValue& value) { return value.key == token.text; })) {
        return "{" + token.text + "} is not declared";
      }
    }
  }
  return "";
}

Parsed parse(std::string_view text) {
  Parsed parsed;
  Message message;
  bool open = false;
  const auto finish = [&] {
    if (!open) return;
    if (message.pieces.empty()) parsed.fault = std::string(name(message.code)) + ": no text";
    const std::string fault = undeclared(message);
    if (!fault.empty()) parsed.fault = std::string(name(message.code)) + ": " + fault;
    parsed.messages.push_back(std::exchange(message, {}));
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == text.size() ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      finish();
      open = true;
      const std::string_view code = line.substr(1, line.size() - 2);
      const auto* at = std::find_if(std::begin(findings::kCodes), std::end(findings::kCodes),
                                    [code](const auto& one) { return one.name == code; });
      if (at == std::end(findings::kCodes)) {
        parsed.fault = "unknown code " + std::string(code);
        return parsed;
      }
      message.code = static_cast<findings::Code>(at - std::begin(findings::kCodes));
      message.whole = code.starts_with("job.");
      continue;
    }
    const size_t equals = line.find(" = ");
    const std::string_view key = line.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : line.substr(equals + 3);
    if (key == "values") message.values = values_of(value);
    if (key == "text") {
      message.capital = value.starts_with('^');
      message.pieces = pieces_of(with_escapes(value.substr(message.capital ? 1 : 0)));
    }
  }
  finish();
  if (parsed.fault.empty() && parsed.messages.size() != std::size(findings::kCodes)) {
    parsed.fault = "the catalogue and codes.h differ";
  }
  std::sort(parsed.messages.begin(), parsed.messages.end(),
            [](const Message& a, const Message& b) { return a.code < b.code; });
  return parsed;
}

}  // namespace

const std::vector<Message>& catalogue() {
  static const std::vector<Message> messages = [] {
    Parsed parsed = parse(messages_text());
    if (!parsed.fault.empty()) {
      std::fprintf(stderr, "assay: messages.en.txt: %s\n", parsed.fault.c_str());
      std::abort();
    }
    return std::move(parsed.messages);
  }();
  return messages;
}

const Message& message_of(findings::Code code) { return catalogue()[static_cast<size_t>(code)]; }

std::string catalogue_fault(std::string_view text) { return parse(text).fault; }

}  // namespace assay::text
