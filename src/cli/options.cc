#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/closest_word.h"
#include "base/files.h"
#include "cli/help.h"
#include "text/plain_text.h"

namespace assay {
namespace {

// limits: of the value, for the error.
CLI::Validator number_where(std::function<bool(double)> holds, std::string limits) {
  return CLI::Validator(
      [holds = std::move(holds),
       limits = std::move(limits)](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (!text.empty() && *end == '\0' && holds(value)) return "";
        return fmt::format("'{}' is not a number {}", text, limits);
      },
      "");
}

}  // namespace

Option::Option(CLI::Option& parsed, OptionType type)
    : parsed_(&parsed), value_(parsed.get_type_name()), type_(type) {}

Option& Option::limits(std::string words) {
  limits_ = std::move(words);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  parsed_->check(CLI::IsMember(words));
  return suggests(words);
}

Option& Option::suggests(const std::vector<std::string>& words) {
  words_ = words;
  return *this;
}

Option& Option::between(int least, int most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::between(unsigned least, unsigned most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::between(unsigned long least, unsigned long most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::between(unsigned long long least, unsigned long long most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::between(double least, double most) {
  const std::string range = fmt::format("from {} to {}", least, most);
  parsed_->check(
      number_where([least, most](double value) { return value >= least && value <= most; }, range));
  return limits(range);
}

Option& Option::at_least_zero() {
  parsed_->check(number_where([](double value) { return value >= 0; }, "at least 0"));
  return limits("at least 0");
}

Option& Option::more_than_zero() {
  parsed_->check(number_where([](double value) { return value > 0; }, "above 0"));
  return limits("above 0");
}

Option& Option::existing_file() {
  parsed_->check(CLI::ExistingFile);
  return limits("a file that exists");
}

Option& Option::size() {
  parsed_->transform(CLI::AsSizeValue(false));
  // Users may type a unit, so it is not a plain number.
  type_ = OptionType::kText;
  unit_ = "bytes";
  return limits("bytes, or with a unit such as MB or GiB");
}

Option& Option::checked_by(const std::function<std::string(const std::string&)>& problem,
                           const std::string& value) {
  parsed_->check(problem, value);
  if (!value.empty()) value_ = value;
  return *this;
}

Option& Option::required(bool is_required) {
  parsed_->required(is_required);
  return *this;
}

Option& Option::separated_by(char mark) {
  parsed_->delimiter(mark);
  return *this;
}

Option& Option::one_per_mention() {
  parsed_->allow_extra_args(false);
  return *this;
}

Option& Option::one_value_each() {
  parsed_->expected(1)->take_all();
  return *this;
}

Option& Option::not_with(const std::string& name) {
  parsed_->excludes(name);
  return *this;
}

Option& Option::needs(std::vector<std::string> names) {
  needs_ = std::move(names);
  return *this;
}

Option& Option::unit(const std::string& unit) {
  unit_ = unit;
  return *this;
}

Option& Option::says(const std::string& sentence) {
  parsed_->description(sentence);
  return *this;
}

Option& Option::called(const std::string& value) {
  parsed_->type_name(value);
  value_ = value;
  return *this;
}

Option& Option::shows_default() {
  parsed_->capture_default_str();
  return *this;
}

Option& Option::hidden() {
  parsed_->group("");
  return *this;
}

Option& Option::common() {
  is_common_ = true;
  return *this;
}

Verb::Verb(CLI::App& parsed) : parsed_(&parsed) {}

Option& Verb::keep(CLI::Option* parsed, OptionType type) {
  options_.push_back(std::make_unique<Option>(*parsed, type));
  return *options_.back();
}

Option& Verb::option(const std::string& names, std::string& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::vector<std::string>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, int& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, uint32_t& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, int64_t& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, unsigned long& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}
Option& Verb::option(const std::string& names, unsigned long long& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, double& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kNumber);
}

Option& Verb::option(const std::string& names, std::vector<uint32_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, std::vector<uint64_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, std::optional<uint32_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, std::optional<int64_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, std::optional<unsigned long>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}
Option& Verb::option(const std::string& names, std::optional<unsigned long long>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kInteger);
}

Option& Verb::option(const std::string& names, std::optional<double>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence), OptionType::kNumber);
}

Option& Verb::choice(const std::string& names,
                     const std::vector<std::pair<std::string, int>>& words,
                     const std::function<void(int)>& choose, const std::string& sentence) {
  std::vector<std::string> known;
  for (const auto& [word, number] : words) known.push_back(word);
  const auto take = [words, choose](const std::string& typed) {
    for (const auto& [word, number] : words) {
      if (word == typed) choose(number);
    }
  };
  CLI::Option* parsed = parsed_->add_option_function<std::string>(names, take, sentence);
  // Keep the words out of --help's name column; the sentence lists them.
  parsed->check(CLI::IsMember(known).description(""));
  return keep(parsed).suggests(known);
}

Option& Verb::flag(const std::string& names, bool& value, const std::string& sentence) {
  return keep(parsed_->add_flag(names, value, sentence), OptionType::kFlag);
}

Option& Verb::flag(const std::string& names, std::string& value, const std::string& sentence) {
  return keep(parsed_->add_flag(names, value, sentence), OptionType::kFlag);
}

Option& Verb::input(const std::string& name, std::string& value, const std::string& sentence) {
  return keep(parsed_->add_option(name, value, sentence));
}

Option& Verb::input(const std::string& name, std::vector<std::string>& value,
                    const std::string& sentence) {
  return keep(parsed_->add_option(name, value, sentence));
}

Option& Verb::declared(const std::string& name) {
  const CLI::Option* wanted = parsed_->get_option(name);
  return **std::find_if(options_.begin(), options_.end(),
                        [wanted](const auto& option) { return option->parsed_ == wanted; });
}

Verb& Verb::verb(const std::string& name, const std::string& sentence) {
  verbs_.push_back(std::make_unique<Verb>(*parsed_->add_subcommand(name, sentence)));
  return *verbs_.back();
}

void Verb::takes_anything() { parsed_->prefix_command(); }

void Verb::needs_a_verb() { parsed_->require_subcommand(1); }

void Verb::footer(const std::string& text) {
  footer_ = text;
  parsed_->footer(text);
}

Verb& Verb::example(const std::string& command, const std::string& sentence) {
  constexpr size_t kExampleSentenceAt = 46;
  std::string line = command;
  if (!sentence.empty()) {
    line += std::string(line.size() + 2 > kExampleSentenceAt ? 2 : kExampleSentenceAt - line.size(),
                        ' ');
    line += sentence;
  }
  examples_.push_back(std::move(line));
  return *this;
}

void Verb::run(const std::function<void()>& action) {
  parsed_->callback([this, action] {
    check_needs();
    action();
  });
}

void Verb::check_needs() const {
  for (const std::unique_ptr<Option>& option : options_) {
    if (option->needs_.empty() || option->parsed_->count() == 0) continue;
    std::string wanted;
    bool met = false;
    for (const std::string& name : option->needs_) {
      met |= parsed_->get_option(name)->count() > 0;
      wanted += (wanted.empty() ? "" : " or ") + name;
    }
    if (!met) throw CLI::RequiresError(option->parsed_->get_name(), wanted);
  }
}

namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_a_list(const CLI::Option& option) {
  return option.get_expected_max() == CLI::detail::expected_max_vector_size ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

}  // namespace

OptionFacts Verb::facts_of(const CLI::Option& parsed) const {
  OptionFacts facts;
  facts.names = names_of(parsed);
  facts.is_input = parsed.get_positional();
  facts.shown_default = parsed.get_default_str();
  facts.sentence = parsed.get_description();
  facts.is_required = parsed.get_required();
  facts.is_hidden = parsed.get_group().empty();
  const auto kept = std::find_if(options_.begin(), options_.end(), [&parsed](const auto& option) {
    return option->parsed_ == &parsed;
  });
  if (kept == options_.end()) {  // --help and --version, which the library adds
    facts.type = OptionType::kFlag;
    return facts;
  }
  facts.words = (*kept)->words_;
  facts.limits = (*kept)->limits_;
  facts.is_common = (*kept)->is_common_;
  facts.type = (*kept)->type_;
  facts.unit = (*kept)->unit_;
  const bool is_flag = parsed.get_expected_min() == 0 && !facts.is_input;
  facts.value_is_optional = is_flag && (*kept)->value_.rfind("[=", 0) == 0;
  if (facts.value_is_optional) {
    facts.type = OptionType::kText;
    facts.value = (*kept)->value_.substr(2, (*kept)->value_.size() - 3);
  } else if (!is_flag) {
    facts.value = (*kept)->value_;
    facts.is_repeatable = takes_a_list(parsed);
  }
  return facts;
}

VerbFacts Verb::facts(const std::string& above) const {
  const bool is_program = parsed_->get_parent() == nullptr;
  VerbFacts facts;
  facts.name = is_program ? "" : above + parsed_->get_name();
  facts.sentence = parsed_->get_description();
  facts.footer = footer_;  // CLI11's footer is inherited by subverbs
  facts.examples = examples_;
  const CLI::App& read_only = *parsed_;
  for (const CLI::Option* option : read_only.get_options()) {
    facts.options.push_back(facts_of(*option));
  }
  for (const auto& verb : verbs_) {
    facts.verbs.push_back(verb->facts(is_program ? "" : facts.name + " "));
  }
  return facts;
}

std::vector<GivenOption> Verb::given() const {
  std::vector<GivenOption> found;
  const CLI::App& read_only = *parsed_;
  for (const CLI::Option* option : read_only.get_options()) {
    if (option->empty() || !facts_of(*option).words.empty()) continue;
    found.push_back({parsed_->get_name(), names_of(*option), option->results()});
  }
  return found;
}

namespace {

void collect_given(const CLI::App& verb, std::vector<GivenOption>& given) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->empty()) continue;
    given.push_back({verb.get_name(), names_of(*option), option->results()});
  }
  for (const CLI::App* nested : verb.get_subcommands()) collect_given(*nested, given);
}

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& sentence,
                         const std::string& version, std::string overview)
    : overview_(std::move(overview)),
      app_(std::make_unique<CLI::App>(sentence, name)),
      root_(std::make_unique<Verb>(*app_)) {
  app_->formatter_fn([this](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
    return page_of(*app);
  });
  app_->set_version_flag("-V,--version", version);
}

CommandLine::~CommandLine() = default;

std::string CommandLine::page_of(const CLI::App& app) const {
  std::vector<std::string> path;  // innermost first
  for (const CLI::App* at = &app; at->get_parent() != nullptr; at = at->get_parent()) {
    path.push_back(at->get_name());
  }
  VerbFacts verb = root_->facts();
  if (path.empty()) return overview_ + verb.footer + "\n";
  while (!path.empty()) {
    const auto below = std::find_if(verb.verbs.begin(), verb.verbs.end(), [&](const VerbFacts& v) {
      return v.name.substr(v.name.rfind(' ') + 1) == path.back();
    });
    if (below == verb.verbs.end()) break;
    VerbFacts found = std::move(*below);
    verb = std::move(found);
    path.pop_back();
  }
  return help_page(verb, app_->get_name(), help_width());
}

namespace {

std::vector<std::string> names_of_verbs(const VerbFacts& verb) {
  std::vector<std::string> names;
  for (const VerbFacts& below : verb.verbs)
    names.push_back(below.name.substr(below.name.rfind(' ') + 1));
  return names;
}

bool is_path(const std::string& text) {
  return text == "-" || text.find_first_of("*?[./") != std::string::npos || file_exists(text);
}

bool asks_for_help(const std::string& text) {
  return text == "-h" || text == "--help" || text == "-V" || text == "--version";
}

// The verb that the words name, and the number of words that name it.
std::pair<const VerbFacts*, size_t> verb_named(const VerbFacts& program,
                                               const std::vector<std::string>& words) {
  const VerbFacts* verb = &program;
  size_t used = 0;
  for (; used < words.size(); ++used) {
    const VerbFacts* below = nullptr;
    for (const VerbFacts& one : verb->verbs) {
      if (one.name.substr(one.name.rfind(' ') + 1) == words[used]) below = &one;
    }
    if (below == nullptr) break;
    verb = below;
  }
  return {verb, used};
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& known) {
  const std::string near = closest_word(typed, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

// Full names of all subverbs with this name.
void find_below(const VerbFacts& verb, const std::string& name, std::vector<std::string>& found) {
  for (const VerbFacts& below : verb.verbs) {
    if (below.name.ends_with(" " + name)) found.push_back(below.name);
    find_below(below, name, found);
  }
}

// Suggestion for an unknown verb: an exact match among subverbs precedes similar names.
std::string verb_meant(const std::string& typed, const VerbFacts& program,
                       const std::string& program_name) {
  std::vector<std::string> below;
  find_below(program, typed, below);
  if (below.empty()) return did_you_mean(typed, names_of_verbs(program));
  std::string text;
  for (const std::string& name : below)
    text += (text.empty() ? "; did you mean '" : " or '") + program_name + " " + name + "'";
  return text + "?";
}

// The words as passed to the parser; an error if they contain no known verb or file.
Result<std::vector<std::string>> meant_words(std::vector<std::string> words,
                                             const VerbFacts& program,
                                             const std::string& program_name,
                                             const std::string& default_verb) {
  if (words.empty()) return std::vector<std::string>{"--help"};
  if (words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
    if (words.size() == 1) return words;
  }
  if (asks_for_help(words.front())) return words;
  const auto [verb, used] = verb_named(program, words);
  if (used == 0) {
    const std::string& first = words.front();
    if (first.starts_with("-") || is_path(first)) {
      words.insert(words.begin(), default_verb);
      return words;
    }
    return Error{
        ErrorCode::kInvalidArgument,
        "no verb or file '" + clean_text(first) + "'" + verb_meant(first, program, program_name),
        "", -1};
  }
  if (!verb->verbs.empty() && used < words.size() && !words[used].starts_with("-")) {
    return Error{ErrorCode::kInvalidArgument,
                 "no verb '" + clean_text(words[used]) + "' of " + verb->name +
                     did_you_mean(words[used], names_of_verbs(*verb)),
                 "", -1};
  }
  if (!verb->verbs.empty() && used == words.size()) words.emplace_back("--help");
  return words;
}

// Unknown options in the command line, each with a suggestion.
std::string unknown_options(const std::vector<std::string>& words, const VerbFacts& program) {
  const auto [verb, used] = verb_named(program, words);
  std::vector<std::string> known;
  for (const OptionFacts& option : verb->options) {
    for (const std::string& name : option.names) known.push_back(name);
  }
  std::string text;
  for (size_t i = used; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    const std::string near = did_you_mean(name, known);
    if (!near.empty()) text += "no option '" + clean_text(name) + "'" + near + "\n";
  }
  return text;
}

}  // namespace

CommandLine::End CommandLine::parse(
    int argc, char** argv, const std::string& default_verb,
    const std::function<Status(const std::vector<GivenOption>&)>& check) {
  app_->parse_complete_callback([this, &check] {
    std::vector<GivenOption> given;
    for (const CLI::App* verb : app_->get_subcommands()) collect_given(*verb, given);
    const Status checked = check(given);
    if (!checked) throw CLI::ValidationError(checked.error().file, checked.error().message);
  });
  const VerbFacts program = root_->facts();
  auto words = meant_words(std::vector<std::string>(argv + 1, argv + argc), program,
                           app_->get_name(), default_verb);
  if (!words) {
    fmt::print(stderr, "{}: {}\n", app_->get_name(), words.error().message);
    return End::kRefused;
  }
  try {
    app_->parse(std::vector<std::string>(words->rbegin(), words->rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app_->exit(error);
      return End::kTold;
    }
    // CLI11's message does not contain the verb.
    const std::string verb = app_->get_name() + " " + verb_named(program, *words).first->name;
    fmt::print(stderr, "{}: {}\n{}See '{} --help'.\n", verb, clean_text(error.what()),
               unknown_options(*words, program), verb);
    return End::kRefused;
  }
  return End::kRan;
}

}  // namespace assay
