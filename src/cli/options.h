#pragma once

// The command line as the verbs see it: a verb has options, inputs and verbs of its own. Parsing,
// --help and the words of refusals come from one library, which options.cc alone includes: it costs
// seconds of compiling in every file that sees it. What is declared here is also the table that
// `assay options` prints, from which the man page, the completions and docs/cli.md are made.

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

// One option, flag or input. Every member returns the same option, so that they can be chained;
// what an option refuses ends the command before any verb runs.
class Option {
 public:
  explicit Option(CLI::Option& parsed);

  // What its value may be.
  Option& one_of(const std::vector<std::string>& words);
  Option& between(int least, int most);
  Option& between(unsigned least, unsigned most);
  Option& between(uint64_t least, uint64_t most);
  Option& between(double least, double most);
  Option& at_least_zero();
  Option& more_than_zero();
  Option& existing_file();
  // A number of bytes, also with a unit: 500MB, 4GiB.
  Option& size();
  // problem: what is wrong with a value, empty where nothing is. value: its name in --help, beside
  // that of its type; empty for none.
  Option& checked_by(const std::function<std::string(const std::string&)>& problem,
                     const std::string& value = "");
  // Words that the verb itself takes, and refuses others by name: for completions and the manual.
  Option& suggests(const std::vector<std::string>& words);

  // How it is given.
  Option& required(bool is_required = true);
  // A list in one value, beside several values.
  Option& separated_by(char mark);
  // A list of which each mention of the option takes one value, and leaves the next to the inputs.
  Option& one_per_mention();
  // The same, and --help shows no "...".
  Option& one_value_each();
  // Not together with an option (or input) that was declared before.
  Option& not_with(const std::string& name);

  // What --help says.
  Option& says(const std::string& sentence);
  Option& called(const std::string& value);
  Option& shows_default();
  Option& hidden();
  // One that every verb has: --help lists it behind the verb's own.
  Option& common();

 private:
  friend class Verb;  // cli/options.h
  Option& limits(std::string words);

  CLI::Option* parsed_;
  std::string value_;               // its name in the manual; empty: that of its type
  std::vector<std::string> words_;  // all that are allowed; empty: not a choice between words
  std::string limits_;              // in words, e.g. "from 1 to 20"
  bool is_common_ = false;
};

// A row of the table of options.
struct OptionFacts {
  std::vector<std::string> names;  // with their dashes; an input has one, without
  bool is_input = false;
  std::string value;               // what stands for its value; empty: it takes none
  bool value_is_optional = false;  // --cache, --cache=DIR
  std::vector<std::string> words;  // all that are allowed; empty: not a choice between words
  std::string limits;              // in words
  std::string shown_default;
  std::string sentence;
  bool is_repeatable = false;
  bool is_required = false;
  bool is_hidden = false;
  bool is_common = false;
};
struct VerbFacts {
  std::string name;  // with those above it: "throughput fit"; the program's own is empty
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

// A verb, or the program itself. `names`: "-o,--output"; `value` is where the value goes, and its
// default; it must live as long as the verb. An absent optional was not given.
class Verb {
 public:
  explicit Verb(CLI::App& parsed);

  Option& option(const std::string& names, std::string& value, const std::string& sentence);
  Option& option(const std::string& names, std::vector<std::string>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, int& value, const std::string& sentence);
  Option& option(const std::string& names, uint32_t& value, const std::string& sentence);
  Option& option(const std::string& names, int64_t& value, const std::string& sentence);
  Option& option(const std::string& names, uint64_t& value, const std::string& sentence);
  Option& option(const std::string& names, double& value, const std::string& sentence);
  Option& option(const std::string& names, std::vector<uint32_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::vector<uint64_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<uint32_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<int64_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<uint64_t>& value,
                 const std::string& sentence);
  Option& option(const std::string& names, std::optional<double>& value,
                 const std::string& sentence);
  // A choice between words that stand for numbers; `choose` is given that of the word.
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
  // Says it below the options in --help.
  void footer(const std::string& text);
  // A command line as one would type it, with what it does: --help begins with them.
  Verb& example(const std::string& command, const std::string& sentence = "");
  // What the verb does, once the whole command line was found right.
  void run(const std::function<void()>& action);

  // What was typed for it, once the command line was parsed; choices between words are left out.
  std::vector<GivenOption> given() const;
  // `above`: the names of the verbs above it, with a space behind each.
  VerbFacts facts(const std::string& above = "") const;

 private:
  Option& keep(CLI::Option* parsed);
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
  // version: what --version prints. overview: the program's own --help.
  CommandLine(const std::string& name, const std::string& sentence, const std::string& version,
              std::string overview);
  ~CommandLine();

  Verb& root() { return *root_; }

  enum class End {
    kRan,      // a verb did
    kTold,     // --help or --version did
    kRefused,  // stderr says why
  };
  // A file in place of a verb is for `default_verb`; "help VERB" is "VERB --help". What is no verb,
  // file or option is refused with the one that was probably meant.
  // check: looks at what was typed, before a verb runs; its error refuses the command line.
  End parse(int argc, char** argv, const std::string& default_verb,
            const std::function<Status(const std::vector<GivenOption>&)>& check);

 private:
  std::string page_of(const CLI::App& app) const;

  std::string overview_;
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Verb> root_;
};

}  // namespace assay
