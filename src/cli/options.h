#pragma once

// Declarations of the command line: verbs with options, inputs and subverbs. Only options.cc
// includes the parser library, because it takes seconds to compile. `assay options` prints these
// declarations as a table, from which the man page, the completions and docs/cli.md are generated.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay {

// Type of a value, for signatures and schemas in other programs.
enum class OptionType : uint8_t { kFlag, kText, kInteger, kNumber };

// One option, flag or input. All members return the option itself, for chaining. An invalid value
// ends the command before any verb runs.
class Option {
 public:
  explicit Option(CLI::Option& parsed, OptionType type = OptionType::kText);

  // Allowed values.
  Option& one_of(const std::vector<std::string>& words);
  Option& between(int least, int most);
  Option& between(unsigned least, unsigned most);
  Option& between(unsigned long least, unsigned long most);
  Option& between(unsigned long long least, unsigned long long most);
  Option& between(double least, double most);
  Option& at_least_zero();
  Option& more_than_zero();
  Option& existing_file();
  // A number of bytes, optionally with a unit: 500MB, 4GiB.
  Option& size();
  // problem: returns what is wrong with a value, empty if it is valid. value: value name for --help
  // in addition to the type's; empty for none.
  Option& checked_by(const std::function<std::string(const std::string&)>& problem,
                     const std::string& value = "");
  // Words for completions and the manual. The verb itself checks the value.
  Option& suggests(const std::vector<std::string>& words);

  // How it is given.
  Option& required(bool is_required = true);
  // Accepts a list in one value, separated by `mark`, in addition to several values.
  Option& separated_by(char mark);
  // A list option that takes one value per occurrence; the next word is an input again.
  Option& one_per_mention();
  // The same, but --help shows no "...".
  Option& one_value_each();
  // Excludes an option (or input) that was declared before.
  Option& not_with(const std::string& name);
  // An error unless one of these options (or inputs) is given too: without it, this one has no
  // effect.
  Option& needs(std::vector<std::string> names);

  // Unit of a number for other programs: "s", "ms", "bytes". The sentence must mention it for
  // readers.
  Option& unit(const std::string& unit);

  // Text in --help.
  Option& says(const std::string& sentence);
  Option& called(const std::string& value);
  Option& shows_default();
  Option& hidden();
  // Common to all verbs: --help lists it after the verb's own options.
  Option& common();

 private:
  friend class Verb;  // cli/options.h
  Option& limits(std::string words);

  CLI::Option* parsed_;
  std::string value_;               // its name in the manual; empty = the type's name
  std::vector<std::string> words_;  // allowed values; empty = any
  std::string limits_;              // human-readable, e.g. "from 1 to 20"
  std::string unit_;
  OptionType type_;
  bool is_common_ = false;
  std::vector<std::string> needs_;
};

// A row of the table of options.
struct OptionFacts {
  std::vector<std::string> names;  // with dashes; an input has one name, without dashes
  bool is_input = false;
  OptionType type = OptionType::kText;
  std::string unit;                // of a number; empty = none
  std::string value;               // name of its value; empty = takes no value
  bool value_is_optional = false;  // --cache, --cache=DIR
  std::vector<std::string> words;  // allowed values; empty = any
  std::string limits;              // human-readable
  std::string shown_default;
  std::string sentence;
  bool is_repeatable = false;
  bool is_required = false;
  bool is_hidden = false;
  bool is_common = false;
};
struct VerbFacts {
  std::string name;  // including parent verbs: "throughput fit"; empty for the program
  std::string sentence;
  std::string footer;
  std::vector<std::string> examples;
  std::vector<OptionFacts> options;
  std::vector<VerbFacts> verbs;
};

// An option as typed.
struct GivenOption {
  std::string verb;
  std::vector<std::string> names;
  std::vector<std::string> values;
};

// A verb, or the program itself. `names`: such as "-o,--output". `value`: target and default of the
// option; must live as long as the verb; nullopt = not given. Overloads exist for all three
// unsigned types: on Linux size_t and uint64_t are the same type, but where size_t has 32 bits they
// differ.
class Verb {
 public:
  explicit Verb(CLI::App& parsed);

  Option& option(const std::string& names, std::string& value, const std::string& sentence);
  Option& option(const std::string& names, std::vector<std::string>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, int& value, const std::string& sentence);
  Option& option(const std::string& names, uint32_t& value, const std::string& sentence);
  Option& option(const std::string& names, int64_t& value, const std::string& sentence);
  Option& option(const std::string& names, unsigned long& value, const std::string& sentence);
  Option& option(const std::string& names, unsigned long long& value, const std::string& sentence);
  Option& option(const std::string& names, double& value, const std::string& sentence);
  Option& option(const std::string& names, std::vector<uint32_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::vector<uint64_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<uint32_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<int64_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<unsigned long>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<unsigned long long>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<double>& value,
                 const std::string& sentence);
  // A choice between words that stand for numbers; `choose` receives the number.
  Option& choice(const std::string& names, const std::vector<std::pair<std::string, int>>& words,
                 const std::function<void(int)>& choose, const std::string& sentence);
  Option& flag(const std::string& names, bool& value, const std::string& sentence);
  // "--cache{auto}": `auto`, or VALUE if given as --cache=VALUE.
  Option& flag(const std::string& names, std::string& value, const std::string& sentence);
  // Positional; a list takes all remaining words.
  Option& input(const std::string& name, std::string& value, const std::string& sentence);
  Option& input(const std::string& name, std::vector<std::string>& value,
                const std::string& sentence);
  // An option that was declared before, to modify it. It must exist.
  Option& declared(const std::string& name);

  // Adds a subverb, e.g. `fit` of `throughput`.
  Verb& verb(const std::string& name, const std::string& sentence);
  void needs_a_verb();
  // Accepts and ignores any words and options.
  void takes_anything();
  // Text below the options in --help.
  void footer(const std::string& text);
  // An example command line with an explanation; --help starts with these.
  Verb& example(const std::string& command, const std::string& sentence = "");
  // Action of the verb, called after the whole command line was validated.
  void run(const std::function<void()>& action);

  // Options given on the parsed command line, except those declared by choice().
  std::vector<GivenOption> given() const;
  // `above`: names of the parent verbs, each followed by a space.
  VerbFacts facts(const std::string& above = "") const;

 private:
  Option& keep(CLI::Option* parsed, OptionType type = OptionType::kText);
  void check_needs() const;
  OptionFacts facts_of(const CLI::Option& parsed) const;

  CLI::App* parsed_;
  std::string footer_;
  std::vector<std::string> examples_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

// The program's command line.
class CommandLine {
 public:
  // version: text of --version. overview: the program's own --help.
  CommandLine(const std::string& name, const std::string& sentence, const std::string& version,
              std::string overview);
  ~CommandLine();

  Verb& root() { return *root_; }

  enum class End {
    kRan,      // a verb ran
    kTold,     // --help or --version was printed
    kRefused,  // invalid; the reason is on stderr
  };
  // A file instead of a verb selects `default_verb`; "help VERB" equals "VERB --help". Any other
  // unknown word is an error with a suggestion. check: called before the verb runs; its error
  // rejects the command line.
  End parse(int argc, char** argv, const std::string& default_verb,
            const std::function<Status(const std::vector<GivenOption>&)>& check);

 private:
  std::string page_of(const CLI::App& app) const;

  std::string overview_;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Verb> root_;
};

}  // namespace assay
