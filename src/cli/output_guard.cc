#include "cli/output_guard.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/document/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 4> kWritten = {"--output", "--junit", "--perfetto",
                                                      "--export-kernel-db"};
constexpr std::array<std::string_view, 2> kRunsACommand = {"record", "sample"};

struct Names {
  std::vector<std::string> written;
  std::vector<std::string> read;
};

bool is_written(const CLI::Option& option) {
  return std::any_of(kWritten.begin(), kWritten.end(),
                     [&](std::string_view name) { return option.check_name(std::string(name)); });
}

void collect(const CLI::App& verb, Names& names) {
  const std::string name = verb.get_name();
  if (std::find(kRunsACommand.begin(), kRunsACommand.end(), name) != kRunsACommand.end()) return;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& value : option->results()) {
      if (is_written(*option)) {
        names.written.push_back(value);
        continue;
      }
      names.read.push_back(value);
      const size_t equals = value.find('=');
      if (equals != std::string::npos) names.read.push_back(value.substr(equals + 1));
    }
  }
  for (const CLI::App* nested : verb.get_subcommands()) collect(*nested, names);
}

bool is_one_file(const std::string& a, const std::string& b) {
  std::error_code failed;
  return std::filesystem::is_regular_file(a, failed) && std::filesystem::equivalent(a, b, failed);
}

}  // namespace

void refuse_outputs_over_inputs(const CLI::App& app) {
  Names names;
  for (const CLI::App* verb : app.get_subcommands()) collect(*verb, names);
  for (const std::string& written : names.written) {
    for (const std::string& read : names.read) {
      if (!is_one_file(written, read)) continue;
      throw CLI::ValidationError(clean_text(written), "is an input: it would be overwritten");
    }
  }
}

}  // namespace assay
