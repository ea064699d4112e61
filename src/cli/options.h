#pragma once

// The command line for the verbs: a verb has options, inputs and verbs of its own. Only options.cc
// includes the library that parses, prints --help and words the errors, because it costs seconds of
// compile time per file. These declarations are also the table that `assay options` prints; the man
// page, the completions and docs/cli.md come from it.

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

// Type of a value, for signatures and schemas of other programs.
enum class OptionType : uint8_t { kFlag, kText, kInteger, kNumber };

// One option, flag or input. Every member returns the same option, so that they can be chained;
// what an option refuses ends the command before any verb runs.
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
  // A number of bytes, also with a unit: 500MB, 4GiB.
  Option& size();
  // problem: returns the fault of a value, empty if it is valid. value: its name in --help in
  // addition to that of its type; empty for none.
  Option& checked_by(const std::function<std::string(const std::string&)>& problem,
                     const std::string& value = "");
  // Words that the verb itself takes, and refuses others by name: for completions and the manual.
  Option& suggests(const std::vector<std::string>& words);

  // How it is given.
  Option& required(bool is_required = true);
  // Allows a list in one value, in addition to several values.
  Option& separated_by(char mark);
  // A list of which each mention of the option takes one value, and leaves the next to the inputs.
  Option& one_per_mention();
  // The same, and --help shows no "...".
  Option& one_value_each();
  // Not together with an option (or input) that was declared before.
  Option& not_with(const std::string& name);

  // "s", "ms", "bytes": of a number, for other programs. Its sentence says it to readers.
  Option& unit(const std::string& unit);

  // What --help says.
  Option& says(const std::string& sentence);
  Option& called(const std::string& value);
  Option& shows_default();
  Option& hidden();
  // Common to every verb: --help lists it after the verb's own options.
  Option& common();

 private:
  friend class Verb;  // cli/options.h
  Option& limits(std::string words);

  CLI::Option* parsed_;
  std::string value_;               // its name in the manual; empty = that of its type
  std::vector<std::string> words_;  // all allowed words; empty = any value
  std::string limits_;              // in words, e.g. "from 1 to 20"
  std::string unit_;
  OptionType type_;
  bool is_common_ = false;
};

// A row of the table of options.
struct OptionFacts {
  std::vector<std::string> names;  // with their dashes; an input has one, without
  bool is_input = false;
  OptionType type = OptionType::kText;
  std::string unit;                // of a number; empty = it has none
  std::string value;               // name of its value; empty = it takes none
  bool value_is_optional = false;  // --cache, --cache=DIR
  std::vector<std::string> words;  // all allowed words; empty = any value
  std::string limits;              // in words
  std::string shown_default;
  std::string sentence;
  bool is_repeatable = false;
  bool is_required = false;
  bool is_hidden = false;
  bool is_common = false;
};
struct VerbFacts {
  std::string name;  // with the verbs above it: "throughput fit"; empty for the program
  std::string sentence;
  std::string footer;
  std::vector<std::string> examples;
  std::vector<OptionFacts> options;
  std::vector<VerbFacts> verbs;
};

// An option as it was typed.
struct GivenOption {
  std::string verb;
  std::vector<std::string> names;
  std::vector<std::string> values;
};

// A verb, or the program itself. `names`: "-o,--output". `value`: target and default of the option;
// must live as long as the verb. nullopt = the option was not given. Unsigned numbers of all three sizes, of which size_t
// and uint64_t are one on Linux and two where size_t has 32 bits.
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
  // A choice between words for numbers; `choose` gets the number of the word.
  Option& choice(const std::string& names, const std::vector<std::pair<std::string, int>>& words,
                 const std::function<void(int)>& choose, const std::string& sentence);
  Option& flag(const std::string& names, bool& value, const std::string& sentence);
  // "--cache{auto}": `auto` unless --cache=VALUE says otherwise.
  Option& flag(const std::string& names, std::string& value, const std::string& sentence);
  // By their place; a list takes the rest.
  Option& input(const std::string& name, std::string& value, const std::string& sentence);
  Option& input(const std::string& name, std::vector<std::string>& value,
                const std::string& sentence);
  // One that was declared before, to say more of it. It must exist.
  Option& declared(const std::string& name);

  // A verb below this one, e.g. `fit` of `throughput`.
  Verb& verb(const std::string& name, const std::string& sentence);
  void needs_a_verb();
  // Its action gets any words and options, and ignores them.
  void takes_anything();
  // Says it below the options in --help.
  void footer(const std::string& text);
  // A command line as one would type it, with what it does: --help begins with them.
  Verb& example(const std::string& command, const std::string& sentence = "");
  // Action of the verb, called after the whole command line is valid.
  void run(const std::function<void()>& action);

  // Options given on the parsed command line, without choices between words.
  std::vector<GivenOption> given() const;
  // `above`: the names of the verbs above it, each with a trailing space.
  VerbFacts facts(const std::string& above = "") const;

 private:
  Option& keep(CLI::Option* parsed, OptionType type = OptionType::kText);
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
    kRan,      // a verb did
    kTold,     // --help or --version did
    kRefused,  // stderr says why
  };
  // A file instead of a verb selects `default_verb`; "help VERB" equals "VERB --help". Anything
  // else that is not a verb, file or option is an error with a suggestion. check: runs before a
  // verb; its error rejects the command line.
  End parse(int argc, char** argv, const std::string& default_verb,
            const std::function<Status(const std::vector<GivenOption>&)>& check);

 private:
  std::string page_of(const CLI::App& app) const;

  std::string overview_;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Verb> root_;
};

}  // namespace assay
