#include "cli/output_guard.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/document/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kWritten = {"--output", "--junit", "--perfetto",
                                                      "--freeze", "--export-kernel-db"};
constexpr std::array<std::string_view, 2> kRunsACommand = {"record", "sample"};

struct FileNames {
  std::vector<std::string> written;
  std::vector<std::string> read;
};

bool is_written(const GivenOption& option) {
  return std::any_of(option.names.begin(), option.names.end(), [](const std::string& name) {
    return std::find(kWritten.begin(), kWritten.end(), name) != kWritten.end();
  });
}

void collect(const GivenOption& option, FileNames& names) {
  if (std::find(kRunsACommand.begin(), kRunsACommand.end(), option.verb) != kRunsACommand.end()) {
    return;
  }
  for (const std::string& value : option.values) {
    if (is_written(option)) {
      names.written.push_back(value);
      continue;
    }
    names.read.push_back(value);
    const size_t equals = value.find('=');
    if (equals != std::string::npos) names.read.push_back(value.substr(equals + 1));
  }
}

bool is_one_file(const std::string& a, const std::string& b) {
  std::error_code failed;
  return std::filesystem::is_regular_file(a, failed) && std::filesystem::equivalent(a, b, failed);
}

}  // namespace

Status refuse_outputs_over_inputs(const std::vector<GivenOption>& given) {
  FileNames names;
  for (const GivenOption& option : given) collect(option, names);
  for (const std::string& written : names.written) {
    for (const std::string& read : names.read) {
      if (!is_one_file(written, read)) continue;
      return Error{ErrorCode::kInvalidArgument, "is an input: it would be overwritten",
                   clean_text(written), -1};
    }
  }
  return Ok{};
}

}  // namespace assay
