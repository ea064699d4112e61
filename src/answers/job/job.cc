#include "answers/job/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "answers/job/second_reading.h"
#include "answers/job/tables.h"
#include "base/files.h"
#include "base/temporaries.h"
#include "job/findings.h"
#include "job/job.h"
#include "job/judge.h"
#include "job/sets.h"
#include "report/job/job.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr size_t kKernelsListed = 20;

Result<std::vector<std::string>> record_files(const std::vector<std::string>& from) {
  std::vector<std::string> files;
  for (const std::string& path : from) {
    if (!is_folder(path)) {
      files.push_back(path);
      continue;
    }
    ASSAY_TRY_ASSIGN(const std::vector<std::string> inside, record_files_in(path));
    if (inside.empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   "holds no .ranks file: assay summarize makes them of traces", path, -1};
    }
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Result<FleetRecords> read_records(const std::vector<std::string>& files, const Listener& listener) {
  FleetRecords records;
  uint64_t bytes = 0;
  PhaseClock clock(listener);
  for (const std::string& file : files) {
    ASSAY_TRY_ASSIGN(const std::string text, file_text(file, SIZE_MAX));
    bytes += text.size();
    records.add(file_name(file), text);
  }
  clock.mark("read", bytes);
  return records;
}

// The kernels of all ranks by hash of their full names, largest total time first. Reads the records
// again.
Result<std::vector<FleetKernel>> kernels_of(const FleetJob& job,
                                            const std::vector<std::string>& files) {
  std::map<uint64_t, FleetKernel> by_hash;
  ASSAY_TRY(each_used_record(job, files, [&by_hash](const UsedRecord& used) {
    for (RecordKernel& kernel : read_record_kernels(used.found.payload)) {
      FleetKernel& one = by_hash[kernel.hash];
      // If two names have the same hash, the choice must not depend on the order.
      if (one.name.empty() || kernel.name < one.name) one.name = std::move(kernel.name);
      one.count += kernel.count;
      one.dur_ns += kernel.dur_ns;
      one.durations.merge(kernel.durations);
    }
  }));
  std::vector<FleetKernel> kernels;
  for (auto& [hash, one] : by_hash) kernels.push_back(std::move(one));
  std::stable_sort(kernels.begin(), kernels.end(), [](const FleetKernel& a, const FleetKernel& b) {
    return std::pair(-a.dur_ns, a.name) < std::pair(-b.dur_ns, b.name);
  });
  if (kernels.size() > kKernelsListed) kernels.resize(kKernelsListed);
  return kernels;
}

// The dependency graph data of each rank, in rank order.
Result<std::vector<RankFold>> folds_of(const FleetJob& job, const std::vector<std::string>& files) {
  std::vector<RankFold> folds(job.ranks.size());
  ASSAY_TRY(each_used_record(job, files, [&](const UsedRecord& used) {
    folds[used.rank] = fold_of(job, used);
  }));
  return folds;
}

// Too few ranks: their comparison is shown without a conclusion.
void withhold(const FleetJob& job, size_t unused, double least, Document& document) {
  std::string text =
      fmt::format("Only {} of {} ranks have a record, less than {}: no diagnosis (--min-ranks).",
                  format_count(static_cast<int64_t>(job.ranks.size())),
                  format_count(job.world_size), format_share(least));
  if (unused > 0) {
    text +=
        fmt::format(" {}.", format_counted(unused, "input was not used", "inputs were not used"));
  }
  document.verdict = document.answer->verdict = {text};
  document.answer->notes.clear();
  document.answer->confidence = findings::Confidence::kNone;
  document.answer->reason = "";
}

// tables: the output folder, if any. map: result of the map phase, if it ran.
Result<Answer> conclude(const FleetRequest& request, const std::vector<std::string>& files,
                        std::optional<ExportFolder>& tables, const Summarized* map) {
  const Listener& listener = request.map.traces.listener;
  ASSAY_TRY_ASSIGN(FleetRecords records, read_records(files, listener));
  PhaseClock clock(listener);
  ASSAY_TRY_ASSIGN(FleetJob job, records.assemble());
  clock.mark("match");
  std::string hosts;
  if (!request.hosts.empty()) {
    ASSAY_TRY_ASSIGN(hosts, file_text(request.hosts));
  }
  ASSAY_TRY_ASSIGN(const FleetSets sets, fleet_sets(job, hosts, request.hosts));
  ASSAY_TRY_ASSIGN(std::vector<RankFold> folds, folds_of(job, files));
  ASSAY_TRY_ASSIGN(const FleetFindings found, find_in_fleet(job, sets, std::move(folds)));
  clock.mark("find");
  if (tables) {
    ASSAY_TRY(write_fleet_tables(job, found, files, *tables));
    clock.mark("tables");
  }
  ASSAY_TRY_ASSIGN(std::vector<FleetKernel> kernels, kernels_of(job, files));
  FleetView view{job, sets, found, std::move(kernels), {}};
  if (map != nullptr) view.unread = map->unread;
  Answer answer{new_document("Job")};
  Document& document = answer.document;
  // Names of record files contain process ids and hosts; equal records must give equal documents.
  document.inputs.push_back({"rank records", {}});
  document.verdict = fleet_words(view);
  document.answer = fleet_answer(view);
  document.sections = fleet_sections(view);
  const auto least = request.least_ranks * static_cast<double>(job.world_size);
  if (static_cast<double>(job.ranks.size()) < least) {
    withhold(job, job.unused.size() + view.unread.size(), request.least_ranks, document);
  }
  answer.data_lost = job.counts.lossy_ranks > 0 || job.absent_count > 0 || !job.unused.empty() ||
                     !view.unread.empty();
  clock.mark("report");
  return answer;
}

}  // namespace

Result<Answer> answer_job(const FleetRequest& request) {
  std::optional<ExportFolder> tables;
  if (!request.parquet.empty()) {
    ASSAY_TRY_ASSIGN(tables, open_fleet_tables(request.parquet));
  }
  if (!request.from.empty()) {
    ASSAY_TRY_ASSIGN(const std::vector<std::string> files, record_files(request.from));
    return conclude(request, files, tables, nullptr);
  }
  SummarizeRequest map = request.map;
  Temporary folder;
  if (map.out.empty()) {
    ASSAY_TRY_ASSIGN(folder, request.scratch_beside.empty()
                                 ? temporary_folder("assay-job-")
                                 : temporary_folder_beside(request.scratch_beside));
    map.out = folder.path();
  } else {
    map.resume = true;
  }
  ASSAY_TRY_ASSIGN(const Summarized done, request.summarize(map));
  for (const std::string& words : unread_words(done.unread)) map.traces.listener.tell(words);
  if (done.written + done.kept == 0) {
    const FleetUnused& first = done.unread.front();
    return Error{ErrorCode::kNotATrace, "no trace could be read: " + first.why, first.what, -1};
  }
  ASSAY_TRY_ASSIGN(const std::vector<std::string> files, record_files({map.out}));
  return conclude(request, files, tables, &done);
}

}  // namespace assay
