#include "answers/inputs/sweep.h"

#include <fmt/format.h>

#include <optional>
#include <regex>
#include <set>

#include "answers/inputs/traces.h"
#include "base/files.h"

namespace assay {
namespace {

struct NamedPoint {
  std::string sweep;  // the name without its size
  std::string batch;
  std::string length;  // empty = unknown
  std::string path;
};

std::optional<NamedPoint> point_from_name(const std::string& path) {
  static const std::regex kName(R"((.*)_b([0-9]{1,9})(?:_s([0-9]{1,9}))?\..*)");
  const std::string name = file_name(path);
  std::smatch parts;
  if (!std::regex_match(name, parts, kName)) return std::nullopt;
  return NamedPoint{parts[1], parts[2], parts[3], path};
}

Error problem(const std::string& flag, const std::string& argument, const std::string& what) {
  return {ErrorCode::kInvalidArgument, fmt::format("{} {}: {}", flag, argument, what), "", -1};
}

}  // namespace

Result<std::vector<std::string>> expand_sweep(const std::string& flag,
                                              const std::vector<std::string>& arguments,
                                              const Listener& listener) {
  std::vector<std::string> expanded;
  for (const std::string& argument : arguments) {
    const bool many = is_folder(argument) || argument.find_first_of("*?[") != std::string::npos;
    if (argument.find('=') != std::string::npos || !many) {
      expanded.push_back(argument);
      continue;
    }
    ASSAY_TRY_ASSIGN(const std::vector<std::string> files, input_files({argument}, listener));
    std::vector<NamedPoint> points;
    std::set<std::string> sweeps, lengths;
    for (const std::string& file : files) {
      auto point = point_from_name(file);
      if (!point) {
        return problem(flag, argument,
                       file +
                           " has no batch size in its name: name it like …_b8_s512.json.gz, or "
                           "write SIZE=TRACE for each");
      }
      sweeps.insert(point->sweep);
      lengths.insert(point->length);
      points.push_back(std::move(*point));
    }
    if (sweeps.size() > 1) {
      return problem(
          flag, argument,
          fmt::format("{} sweeps in one ({}, {}, …): give a pattern such as '{}_*'", sweeps.size(),
                      *sweeps.begin(), *std::next(sweeps.begin()), *sweeps.begin()));
    }
    for (const NamedPoint& point : points) {
      const std::string size = lengths.size() > 1 ? point.batch + "x" + point.length : point.batch;
      expanded.push_back(size + "=" + point.path);
    }
  }
  return expanded;
}

}  // namespace assay
