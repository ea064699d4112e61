#include "serve/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/files.h"
#include "base/real_path.h"
#include "ingest/formats.h"

namespace assay {
namespace {

constexpr int kDepth = 12;  // nesting depth of folders

std::string name_below(const std::string& folder, const std::string& path) {
  return path.size() > folder.size() + 1 ? path.substr(folder.size() + 1) : file_name(path);
}

ServedTrace entry_of(size_t number, std::string name, std::string path) {
  return {.id = std::to_string(number), .name = std::move(name), .path = std::move(path)};
}

// Adds folders with several traces, each as one job.
void add_jobs(ServedFolder& served) {
  std::map<std::string, size_t> traces;
  std::map<std::string, uint64_t> bytes;
  std::map<std::string, int64_t> modified_ns;
  for (const ServedTrace& trace : served.traces) {
    const std::string folder = folder_of(trace.path);
    ++traces[folder];
    bytes[folder] += trace.bytes;
    modified_ns[folder] = std::max(modified_ns[folder], trace.modified_ns);
  }
  for (const auto& [folder, count] : traces) {
    if (count < 2) continue;
    std::string name = folder == served.path ? "." : name_below(served.path, folder);
    ServedTrace job = entry_of(served.traces.size(), name + "/", folder);
    job.kind = fmt::format("{} traces together", count);
    job.bytes = bytes[folder];
    job.modified_ns = modified_ns[folder];
    job.is_job = true;
    served.traces.push_back(std::move(job));
  }
}

}  // namespace

const ServedTrace* ServedFolder::find(std::string_view id) const {
  const auto at = std::find_if(traces.begin(), traces.end(), [id](const ServedTrace& trace) { return trace.id == id; });
  return at == traces.end() ? nullptr : &*at;
}

Result<ServedFolder> served_folder(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string real, real_path(path));
  const bool one = !is_folder(real);
  ServedFolder served{.path = one ? folder_of(real) : real};
  std::vector<std::string> files = one ? std::vector<std::string>{real} : files_below(real, kDepth);
  served.cut = files.size() > kMostServed;
  if (served.cut) files.resize(kMostServed);
  for (const std::string& file : files) {
    const auto target = real_path(file);
    if (!target || !lies_in(*target, served.path)) {
      ++served.links;
      continue;
    }
    const FileFormat* format = one ? format_of_file(*target) : format_among_files(file);
    const auto facts = file_facts(*target);
    if (format == nullptr || format->family != FileFamily::kTrace || !facts) {
      ++served.other_files;
      continue;
    }
    ServedTrace trace = entry_of(served.traces.size(), name_below(served.path, file), *target);
    trace.kind = format->plural.empty() ? format->name : format->plural;
    trace.bytes = facts->bytes;
    trace.modified_ns = facts->mtime_ns;
    served.traces.push_back(std::move(trace));
  }
  if (one && served.traces.empty()) {
    const FileFormat* format = format_of_file(real);
    if (format != nullptr) return not_a(FileFamily::kTrace, *format);
    return Error{ErrorCode::kInvalidArgument, "it is not a trace that Assay reads", path, -1};
  }
  if (!one) add_jobs(served);
  return served;
}

}  // namespace assay
