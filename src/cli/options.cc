#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace assay {

Option::Option(CLI::Option& parsed) : parsed_(&parsed), value_(parsed.get_type_name()) {}

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

Option& Option::between(uint64_t least, uint64_t most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::between(double least, double most) {
  parsed_->check(CLI::Range(least, most));
  return limits(fmt::format("from {} to {}", least, most));
}

Option& Option::at_least_zero() {
  parsed_->check(CLI::NonNegativeNumber);
  return limits("at least 0");
}

Option& Option::more_than_zero() {
  parsed_->check(CLI::PositiveNumber);
  return limits("above 0");
}

Option& Option::existing_file() {
  parsed_->check(CLI::ExistingFile);
  return limits("a file that exists");
}

Option& Option::size() {
  parsed_->transform(CLI::AsSizeValue(false));
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

Verb::Verb(CLI::App& parsed) : parsed_(&parsed) {}

Option& Verb::keep(CLI::Option* parsed) {
  options_.push_back(std::make_unique<Option>(*parsed));
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
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, uint32_t& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, int64_t& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, uint64_t& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, double& value, const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::vector<uint32_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::vector<uint64_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::optional<uint32_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::optional<int64_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::optional<uint64_t>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
}

Option& Verb::option(const std::string& names, std::optional<double>& value,
                     const std::string& sentence) {
  return keep(parsed_->add_option(names, value, sentence));
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
  // No words in --help's column of names: the sentence has them.
  parsed->check(CLI::IsMember(known).description(""));
  return keep(parsed).suggests(known);
}

Option& Verb::flag(const std::string& names, bool& value, const std::string& sentence) {
  return keep(parsed_->add_flag(names, value, sentence));
}

Option& Verb::flag(const std::string& names, std::string& value, const std::string& sentence) {
  return keep(parsed_->add_flag(names, value, sentence));
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

void Verb::needs_a_verb() { parsed_->require_subcommand(1); }

void Verb::footer(const std::string& text) {
  footer_ = text;
  parsed_->footer(text);
}

void Verb::run(const std::function<void()>& action) { parsed_->callback(action); }

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
  if (kept == options_.end()) return facts;  // --help and --version, which the library adds
  facts.words = (*kept)->words_;
  facts.limits = (*kept)->limits_;
  const bool is_flag = parsed.get_expected_min() == 0 && !facts.is_input;
  facts.value_is_optional = is_flag && (*kept)->value_.rfind("[=", 0) == 0;
  if (facts.value_is_optional) {
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
  facts.footer = footer_;  // the library's passes on to the verbs below
  const CLI::App& read_only = *parsed_;
  for (const CLI::Option* option : read_only.get_options()) {
    facts.options.push_back(facts_of(*option));
  }
  for (const auto& verb : verbs_) {
    facts.verbs.push_back(verb->facts(is_program ? "" : facts.name + " "));
  }
  return facts;
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
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(sentence, name)), root_(std::make_unique<Verb>(*app_)) {
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

CommandLine::End CommandLine::parse(
    int argc, char** argv, const std::function<Status(const std::vector<GivenOption>&)>& check) {
  app_->parse_complete_callback([this, &check] {
    std::vector<GivenOption> given;
    for (const CLI::App* verb : app_->get_subcommands()) collect_given(*verb, given);
    const Status checked = check(given);
    if (!checked) throw CLI::ValidationError(checked.error().file, checked.error().message);
  });
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? End::kTold : End::kRefused;
  }
  return End::kRan;
}

}  // namespace assay
