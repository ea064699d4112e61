#include <unistd.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/files.h"
#include "ingest/archive.h"
#include "ingest/formats.h"
#include "ingest/load.h"
#include "ingest/stand_ins.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

// True if this kernel trace or Perfetto trace has a file of the same run next to it that has the same
// data, and more.
bool has_results(const std::string& path) {
  const std::string name = file_name(path);
  const auto prefix_before = [&](const char* ending) {
    return name.substr(0, std::min(lower(name).find(ending), name.size()));
  };
  const std::string table = prefix_before("kernel_trace.csv");
  const bool is_table = table.size() < name.size();
  const std::string prefix = is_table ? table : prefix_before("results.pftrace");
  if (prefix.size() == name.size()) return false;
  for (const char* ending : {"results.db", "results.json", "results.json.gz", "kernel_trace.csv"}) {
    if (is_table && std::string_view(ending) == "kernel_trace.csv") continue;
    if (file_exists(joined(folder_of(path), prefix + ending))) return true;
  }
  return false;
}

// The role of a file in a folder of traces by its name: that of the first matching format.
InFolder place_of(const std::string& path) {
  const std::string name = file_name(path);
  for (const FileFormat& format : file_formats()) {
    if (format.in_folder == InFolder::kNo || !has_ending(name, format)) continue;
    if (format.in_folder == InFolder::kOncePerRun && has_results(path)) return InFolder::kNo;
    return format.in_folder;
  }
  return InFolder::kNo;
}

bool is_rocprof_file(const std::string& path) {
  const InFolder place = place_of(path);
  return place == InFolder::kOncePerRun || place == InFolder::kByResultsName;
}

// Kernel traces below a folder: rocprofv3 -d DIR writes DIR/host/pid_kernel_trace.csv, with passes
// of counters in pass_n.
std::vector<std::string> rocprof_below(const std::string& folder) {
  constexpr int kDepth = 3;
  std::vector<std::string> found = files_below(folder, kDepth);
  std::erase_if(found, [](const std::string& path) { return !is_rocprof_file(path); });
  return found;
}

Error no_traces(const std::string& argument, std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), argument, -1};
}

// True for a timeline that Assay wrote, by the mark that precedes the content of the trace.
bool is_own_timeline(const std::string& path) {
  if (!has_ending(path, file_formats().front())) return false;
  constexpr size_t kHeadBytes = 8192;
  const auto head = read_head(path, kHeadBytes);
  if (!head) return false;
  const size_t mark = head->find("\"writtenBy\":\"assay report --perfetto\"");
  return mark != std::string::npos && mark < head->find("\"traceEvents\"");
}

// Describes the content of a folder without a trace, by the first identified file: the folder may
// be another tool's.
std::string what_is_there(const std::string& folder) {
  constexpr size_t kLooked = 64;
  auto listed = files_in(folder);
  if (!listed) return {};
  std::vector<std::string>& files = *listed;
  if (files.size() > kLooked) files.resize(kLooked);
  for (const std::string& file : files) {
    const FileFormat* format = format_of_file(file);
    if (format == nullptr || format->family == FileFamily::kTrace) continue;
    return "; " + file_name(file) + " is " + std::string(format->name) + ": " +
           std::string(format->give);
  }
  return {};
}

// Traces in the subfolders of a folder without its own, detected by content, because any folder may
// contain JSON.
std::vector<std::string> traces_below(const std::string& folder) {
  constexpr int kDepth = 4;
  std::vector<std::string> found = files_below(folder, kDepth);
  std::erase_if(found, [](const std::string& path) {
    const InFolder place = place_of(path);
    if (place == InFolder::kNo || place == InFolder::kUnlessOthers) return true;
    if (is_own_timeline(path)) return true;
    const FileFormat* format = format_of_file(path);
    return format == nullptr || format->family != FileFamily::kTrace;
  });
  return found;
}

// Keeps the last run of TensorBoard's layout, plugins/profile/RUN/FILE. Names of runs are times.
void keep_last_run(std::vector<std::string>& found, std::vector<std::string>& notes) {
  const std::string kRuns = joined("plugins", "profile");
  const auto is_run = [&kRuns](const std::string& path) {
    const std::string runs = folder_of(folder_of(path));
    return runs == kRuns || runs.ends_with("/" + kRuns);
  };
  if (found.empty() || !std::all_of(found.begin(), found.end(), is_run)) return;
  const auto run_of = [](const std::string& path) { return file_name(folder_of(path)); };
  std::string last;
  for (const std::string& path : found) last = std::max(last, run_of(path));
  std::string others;
  std::sort(found.begin(), found.end());
  for (const std::string& path : found) {
    const std::string folder = shown_path(folder_of(path));
    if (run_of(path) == last || others.find(folder) != std::string::npos) continue;
    others += (others.empty() ? "" : ", ") + folder;
  }
  std::erase_if(found, [&](const std::string& path) { return run_of(path) != last; });
  if (!others.empty()) notes.push_back("read the run " + last + "; not read: " + others);
}

// Drops raw reports if there are cached files, which may be from the same runs.
std::vector<std::string> without_reports_that_are_cached(std::vector<std::string> derived) {
  const auto is_cached = [](const std::string& path) { return extension_of(path) == ".assay"; };
  if (std::any_of(derived.begin(), derived.end(), is_cached)) {
    std::erase_if(derived, [&](const std::string& path) { return !is_cached(path); });
  }
  return derived;
}

Status append_folder(const std::string& folder, std::vector<std::string>& files,
                     std::vector<std::string>& notes) {
  std::vector<std::string> found;
  std::vector<std::string> columnar;
  ASSAY_TRY_ASSIGN(const std::vector<std::string> listed, files_in(folder));
  for (const std::string& path : listed) {
    const InFolder place = place_of(path);
    if (place == InFolder::kNo || is_file_of(STDOUT_FILENO, path)) continue;
    (place == InFolder::kUnlessOthers ? columnar : found).push_back(path);
  }
  const auto own = std::stable_partition(found.begin(), found.end(),
                                         [](const auto& path) { return !is_own_timeline(path); });
  const bool has_timelines = own != found.end();
  std::sort(own, found.end());
  for (auto timeline = own; timeline != found.end(); ++timeline) {
    notes.push_back("skipped " + *timeline +
                    ": a timeline that Assay wrote; give its name to read it");
  }
  found.erase(own, found.end());
  // Used only without traces: a trace and its cached file would count twice.
  if (found.empty()) found = without_reports_that_are_cached(std::move(columnar));
  if (found.empty()) found = rocprof_below(folder);
  if (found.empty() && !has_timelines) {
    found = traces_below(folder);
    keep_last_run(found, notes);
  }
  if (found.empty() && has_timelines) {
    return no_traces(
        folder,
        "this folder has only timelines that Assay wrote: give the name of one to read "
        "it");
  }
  if (found.empty()) {
    return no_traces(folder,
                     "no " + folder_names_words() + " in this folder" + what_is_there(folder));
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return Ok{};
}

// Why the folder at the start of a pattern cannot be listed; empty if it can.
std::string why_closed(const std::string& pattern) {
  const std::string folder = folder_of(pattern.substr(0, pattern.find_first_of("*?[")));
  if (folder.empty()) return {};
  const auto listed = files_in(folder);
  return listed ? "" : ": " + listed.error().describe();
}

Status append_matches(const std::string& pattern, std::vector<std::string>& files) {
  const std::vector<std::string> matches = matching_files(pattern);
  if (matches.empty()) {
    return no_traces(pattern, "no file matches this pattern" + why_closed(pattern));
  }
  files.insert(files.end(), matches.begin(), matches.end());
  return Ok{};
}

}  // namespace

Result<std::vector<std::string>> expand_inputs(const std::vector<std::string>& arguments,
                                               std::vector<std::string>* notes) {
  std::vector<std::string> files;
  std::vector<std::string> told;
  for (const std::string& argument : arguments) {
    const bool pattern = argument.find_first_of("*?[") != std::string::npos;
    if (argument == "-") {
      files.push_back(argument);
    } else if (is_folder(argument)) {
      ASSAY_TRY(append_folder(argument, files, told));
    } else if (is_archive(argument)) {
      ASSAY_TRY_ASSIGN(const std::string folder, archive_folder(argument));
      auto added = append_folder(folder, files, told);
      if (!added) {
        Error error = added.take_error();
        error.file = shown_path(error.file);
        return error;
      }
    } else if (pattern && !file_exists(argument)) {
      ASSAY_TRY(append_matches(argument, files));
    } else {
      files.push_back(argument);
    }
  }
  if (notes != nullptr) *notes = std::move(told);
  return files;
}

std::vector<std::string> recordings_beside(const std::string& file) {
  constexpr size_t kMost = 8;
  if (file == "-") return {};
  const std::string parent = folder_of(file);
  const auto listed = files_in(parent.empty() ? "." : parent);
  if (!listed) return {};
  std::vector<std::string> found;
  for (const std::string& path : *listed) {
    const bool named = lower(file_name(path)).find("captur") != std::string::npos;
    if (named && place_of(path) != InFolder::kNo && !is_same_file(path, file)) {
      found.push_back(path);
    }
  }
  if (found.size() > kMost) return {};
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace assay
