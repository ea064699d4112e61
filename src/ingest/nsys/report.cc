#include "ingest/nsys/report.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/child_process.h"
#include "base/files.h"

namespace assay {
namespace {

constexpr const char* kCommand = "nsys export --type sqlite FILE";

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string::npos) return "it said nothing";
  const size_t begin = text.find_last_of("\r\n", end);
  const size_t first = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(first, end - first + 1);
}

// Parts of a cached file's name: the report and its state.
struct KeptName {
  std::string of_report;
  std::string of_state;
};
KeptName kept_name(const std::string& report, const FileFacts& facts) {
  const std::string path = absolute_path(report);
  std::string state = path;
  for (const auto part : {facts.bytes, static_cast<uint64_t>(facts.mtime_ns), facts.inode}) {
    state += "|" + std::to_string(part);
  }
  return {checksum_text(checksum(path.data(), path.size())),
          checksum_text(checksum(state.data(), state.size()))};
}

}  // namespace

std::string find_nsight(const std::string& name, const std::string& place) {
  const std::string on_path = find_on_path(name);
  if (!on_path.empty()) return on_path;
  for (const std::string& places : {place, "/usr/local/cuda*/bin/" + name}) {
    std::vector<std::string> found = matching_files(places);
    std::erase_if(
        found, [](const std::string& path) { return !is_program(path) || !check_trusted(path); });
    if (!found.empty()) return found.back();
  }
  return {};
}

Result<ExportedReport> export_counters(const std::string& report) {
  const std::string command = "ncu --import FILE --csv --page raw > counters.csv";
  const std::string ncu = find_nsight("ncu", "/opt/nvidia/nsight-compute/*/ncu");
  if (ncu.empty()) {
    return Error{ErrorCode::kUnsupported,
                 "unsupported: a raw Nsight Compute report. Only ncu reads it and none is "
                 "installed here; on a machine with ncu run " +
                     command,
                 report, -1};
  }
  ASSAY_TRY_ASSIGN(Temporary folder, temporary_folder("assay-ncu-"));
  const std::string made = joined(folder.path(), "counters.csv");
  std::fprintf(stderr, "assay: %s: printing it with %s\n", report.c_str(), ncu.c_str());
  ASSAY_TRY_ASSIGN(
      const ChildResult done,
      run_child({ncu, "--import", report, "--csv", "--page", "raw", "--log-file", made}, true));
  if (done.exit_code != 0 || !is_regular_file(made)) {
    return Error{ErrorCode::kFormat,
                 "ncu could not print this report (" + last_line(done.output) +
                     "). A newer ncu may: " + command,
                 report, -1};
  }
  return ExportedReport{made, std::move(folder)};
}

Result<ExportedReport> export_report(const std::string& report) {
  ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(report));
  const KeptName name = kept_name(report, facts);
  const auto cache = user_cache_folder("assay/nsys");
  const bool keeps = cache && make_folders(*cache, 0700);
  const std::string kept =
      keeps ? joined(*cache, name.of_report + "-" + name.of_state + ".sqlite") : "";
  if (keeps && is_regular_file(kept)) return ExportedReport{kept, {}};

  const std::string nsys = find_nsight("nsys", "/opt/nvidia/nsight-systems*/*/bin/nsys");
  if (nsys.empty()) {
    return Error{
        ErrorCode::kUnsupported,
        std::string("unsupported: a raw Nsight Systems report. Only nsys reads it and none "
                    "is installed here; on a machine with nsys run ") +
            kCommand,
        "", -1};
  }
  ASSAY_TRY_ASSIGN(Temporary folder,
                   keeps ? temporary_folder_beside(kept) : temporary_folder("assay-nsys-"));
  const std::string made = joined(folder.path(), "report.sqlite");
  std::fprintf(stderr, "assay: %s: exporting it with %s\n", report.c_str(), nsys.c_str());
  ASSAY_TRY_ASSIGN(const ChildResult done,
                   run_child({nsys, "export", "--type", "sqlite", "--force-overwrite", "true",
                              "--output", made, report},
                             true));
  if (done.exit_code != 0 || !is_regular_file(made)) {
    return Error{ErrorCode::kFormat,
                 "nsys could not export this report (" + last_line(done.output) +
                     "). A newer nsys may: " + kCommand,
                 "", -1};
  }
  if (!keeps) return ExportedReport{made, std::move(folder)};
  for (const std::string& former : matching_files(joined(*cache, name.of_report + "-*.sqlite")))
    (void)remove_file(former);
  ASSAY_TRY(rename_file(made, kept));
  return ExportedReport{kept, {}};
}

}  // namespace assay
