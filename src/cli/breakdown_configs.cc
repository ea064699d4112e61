#include "cli/breakdown_configs.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "answers/inputs/name_value.h"
#include "cli/options.h"

namespace assay {
namespace {

Error bad_config(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

Status add_tokens(const ConfigFlags& flags, std::vector<LevelConfig>& configs) {
  for (const std::string& text : flags.tokens) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--tokens", text, "NAME=COUNT"));
    const auto at = std::find_if(configs.begin(), configs.end(), [&](const LevelConfig& config) {
      return config.name == entry.first;
    });
    if (at == configs.end()) return bad_config("--tokens " + text + ": no --config has this name");
    const std::string& number = entry.second;
    int64_t tokens = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tokens);
    if (error != std::errc() || end != number.data() + number.size() || tokens <= 0)
      return bad_config("--tokens " + text +
                        ": tokens per iteration of all GPUs, a whole number above 0");
    at->tokens = tokens;
  }
  return Ok{};
}

// Assigns the paths of NAME=PATH to the configuration NAME.
Status add_paths(const std::string& option, const std::vector<std::string>& texts,
                 std::vector<std::string> LevelConfig::*paths, std::vector<LevelConfig>& configs) {
  for (const std::string& text : texts) {
    bool known = false;
    for (LevelConfig& config : configs) {
      if (text.rfind(config.name + "=", 0) != 0) continue;
      (config.*paths).push_back(text.substr(config.name.size() + 1));
      known = true;
    }
    if (!known)
      return bad_config(option + " " + text +
                        ": with --config write it as NAME=PATH, with such a name");
  }
  return Ok{};
}

}  // namespace

void add_config_options(Verb& verb, ConfigFlags& flags) {
  verb.option("--config", flags.configs,
              "a configuration to compare: its name, and a folder, pattern or file with the "
              "traces of its ranks; the first one is the baseline")
      .called("NAME=PATH")
      .one_value_each();
  verb.option("--tokens", flags.tokens,
              "with --config: tokens that all GPUs together process per iteration, for traces "
              "without them")
      .called("NAME=COUNT")
      .one_value_each()
      .needs({"--config"});
  verb.option("--detail", flags.detail,
              "with --config: configurations of the figures by layer and GPU [all]")
      .called("NAME")
      .one_value_each()
      .needs({"--config"});
  verb.option("--top", flags.top,
              "with --config: operations per phase and type in the figures by layer")
      .between(1, 20)
      .shows_default()
      .needs({"--config"});
}

Result<LevelConfigsRequest> level_configs_request(const ConfigFlags& flags,
                                                  BreakdownRequest breakdown) {
  LevelConfigsRequest request{.detail = flags.detail, .top = flags.top};
  for (const std::string& text : flags.configs) {
    ASSAY_TRY_ASSIGN(const auto entry, split_name_value("--config", text, "NAME=FOLDER"));
    request.configs.push_back({.name = entry.first, .traces = entry.second});
  }
  ASSAY_TRY(add_tokens(flags, request.configs));
  ASSAY_TRY(add_paths("--telemetry", breakdown.telemetry.files, &LevelConfig::telemetry,
                      request.configs));
  ASSAY_TRY(
      add_paths("--counters", breakdown.counters.files, &LevelConfig::counters, request.configs));
  request.breakdown = std::move(breakdown);
  return request;
}

}  // namespace assay
