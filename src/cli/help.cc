#include "cli/help.h"

#include <algorithm>

#include "text/plain_text.h"

namespace assay {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kSentenceAt = 26;
constexpr size_t kWidest = 100;

// "-o, --output FILE"
std::string typed_as(const OptionFacts& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  if (option.value.empty()) return text;
  // An input needs no type: its name and sentence describe it.
  if (option.is_input && option.value == "TEXT") return text + (option.is_repeatable ? "..." : "");
  const bool plain = option.value == "TEXT" || option.value == "INT" || option.value == "UINT" ||
                     option.value == "FLOAT";
  std::string value = option.value;
  if (plain) value = option.words.empty() ? (option.value == "TEXT" ? "TEXT" : "N") : "WORD";
  return text + (option.value_is_optional ? "[=" + value + "]" : " " + value) +
         (option.is_repeatable ? " ..." : "");
}

std::string sentence_of(const OptionFacts& option) {
  std::string text = option.sentence;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  bool all_named = true;
  std::string words;
  for (const std::string& word : option.words) {
    all_named = all_named && option.sentence.find(word) != std::string::npos;
    words += (words.empty() ? "" : ", ") + word;
  }
  if (!all_named) add(words);
  if (!option.limits.empty()) add(option.limits);
  if (!option.shown_default.empty()) add("default " + option.shown_default);
  return text;
}

class Page {
 public:
  explicit Page(size_t width) : width_(std::clamp<size_t>(width, 40, kWidest)) {}

  void line(const std::string& text) { out_ += text + "\n"; }
  void gap() {
    if (!out_.ends_with("\n\n")) out_ += "\n";
  }
  void paragraph(const std::string& text, size_t indent = 0) {
    size_t begin = 0;
    while (begin <= text.size()) {  // keep explicit line breaks
      const size_t end = std::min(text.find('\n', begin), text.size());
      for (const std::string& part : wrap_text(text.substr(begin, end - begin), width_ - indent)) {
        line(std::string(part.empty() ? 0 : indent, ' ') + part);
      }
      begin = end + 1;
    }
  }
  void option(const OptionFacts& option) {
    const std::string head = std::string(kIndent, ' ') + typed_as(option);
    const bool beside = head.size() + 2 <= kSentenceAt;
    if (!beside) line(head);
    bool first = beside;
    for (const std::string& part : wrap_text(sentence_of(option), width_ - kSentenceAt)) {
      line((first ? pad_text(head, kSentenceAt, false) : std::string(kSentenceAt, ' ')) + part);
      first = false;
    }
  }
  void options(const std::vector<OptionFacts>& options, const std::string& title,
               bool (*wanted)(const OptionFacts&)) {
    bool any = false;
    for (const OptionFacts& facts : options) {
      if (facts.is_hidden || !wanted(facts)) continue;
      if (!any) {
        gap();
        if (!title.empty()) line(title);
      }
      any = true;
      option(facts);
    }
  }
  std::string take() { return std::move(out_); }

 private:
  size_t width_;
  std::string out_;
};

std::string usage(const VerbFacts& verb, const std::string& program) {
  std::string text = program + (verb.name.empty() ? "" : " " + verb.name);
  if (!verb.verbs.empty()) return text + " VERB";
  text += " [OPTIONS]";
  for (const OptionFacts& option : verb.options) {
    if (!option.is_input || option.is_hidden) continue;
    const std::string name = option.names.front() + (option.is_repeatable ? "..." : "");
    text += option.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

bool is_own(const OptionFacts& option) {
  return !option.is_common && !option.is_input && option.names.back() != "--help";
}

}  // namespace

std::string help_page(const VerbFacts& verb, const std::string& program, size_t width) {
  Page page(width);
  page.paragraph(verb.sentence + ".");
  page.gap();
  for (const std::string& example : verb.examples) page.line("  " + example);
  if (!verb.examples.empty()) page.gap();
  page.paragraph("usage: " + usage(verb, program));
  if (!verb.verbs.empty()) {
    page.gap();
    for (const VerbFacts& below : verb.verbs) {
      OptionFacts facts;
      facts.names = {below.name.substr(below.name.rfind(' ') + 1)};
      facts.sentence = below.sentence;
      page.option(facts);
    }
  }
  page.options(verb.options, "Inputs", [](const OptionFacts& option) { return option.is_input; });
  page.options(verb.options, "Options", is_own);
  page.options(verb.options, "Common options",
               [](const OptionFacts& option) { return option.is_common; });
  page.options(verb.options, "", [](const OptionFacts& option) {
    return !option.is_input && option.names.back() == "--help";
  });
  if (!verb.footer.empty()) {
    page.gap();
    page.paragraph(verb.footer);
  }
  return page.take();
}

}  // namespace assay
