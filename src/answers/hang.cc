#include "answers/hang.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/files.h"
#include "hang/hang.h"
#include "ingest/archive.h"
#include "ingest/flight/dump.h"
#include "ingest/flight/logs.h"
#include "ingest/stand_ins.h"
#include "ingest/text/whole_file.h"
#include "report/hang/hang.h"

namespace assay {
namespace {

constexpr size_t kHeadBytes = size_t{64} << 10;

bool is_dump(const std::string& path) {
  const auto head = read_head(path, kHeadBytes);
  return head && is_flight_head(*head);
}

// Files of the inputs, classified by their first bytes. Files given explicitly are dumps.
struct HangFiles {
  std::vector<std::string> dumps;
  std::vector<std::string> others;
};

Result<std::vector<std::string>> files_behind(const std::string& input) {
  constexpr int kDepth = 3;
  std::string folder = input;
  if (is_archive(input)) {
    ASSAY_TRY_ASSIGN(folder, archive_folder(input));
  }
  ASSAY_TRY_ASSIGN(std::vector<std::string> files, files_in(folder));
  if (std::none_of(files.begin(), files.end(), is_dump)) files = files_below(folder, kDepth);
  std::sort(files.begin(), files.end());
  return files;
}

// Path without digits in the file name. A file that shares it with dumps but has no dump content is
// a damaged dump.
std::string without_numbers(const std::string& path) {
  std::string name = file_name(path);
  std::erase_if(name, is_digit);
  return folder_of(path) + "/" + name;
}

Result<HangFiles> hang_files(const std::vector<std::string>& inputs) {
  HangFiles found;
  for (const std::string& input : inputs) {
    if (!is_folder(input) && !is_archive(input)) {
      found.dumps.push_back(input);
      continue;
    }
    ASSAY_TRY_ASSIGN(const std::vector<std::string> files, files_behind(input));
    std::set<std::string> names;
    for (const std::string& file : files) {
      if (is_dump(file)) names.insert(without_numbers(file));
    }
    for (const std::string& file : files) {
      (names.contains(without_numbers(file)) ? found.dumps : found.others).push_back(file);
    }
  }
  return found;
}

}  // namespace

Result<Answer> answer_hang(const HangRequest& request) {
  ASSAY_TRY_ASSIGN(const HangFiles files, hang_files(request.inputs));
  if (files.dumps.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "no dump of a flight recorder in it; PyTorch writes one a rank with "
                 "TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1",
                 request.inputs.empty() ? "" : request.inputs.front(), -1};
  }
  Answer answer{new_document("Hang")};
  std::vector<FlightDump> dumps;
  std::vector<UnreadDump> unread;
  std::set<int64_t> damaged;
  std::map<int64_t, std::string> taken;  // file by rank
  for (const std::string& file : files.dumps) {
    auto dump = read_flight_dump(file);
    const std::string shown = shown_path(file);
    if (!dump) {
      Error error = dump.take_error();
      error.file.clear();
      if (const auto rank = rank_in_dump_name(file)) damaged.insert(*rank);
      unread.push_back({shown, error.describe()});
    } else if (!dump->rank) {
      unread.push_back({shown, "its rank is unknown: neither its name nor its process groups have it"});
    } else if (const auto [first, is_new] = taken.try_emplace(*dump->rank, shown); !is_new) {
      unread.push_back({shown, "rank " + std::to_string(*dump->rank) + " has a dump already, " +
                                   file_name(first->second) + ": give the dumps of one job"});
    } else {
      answer.document.inputs.push_back({shown, {}});
      dumps.push_back(*std::move(dump));
    }
  }
  if (dumps.empty()) {
    return Error{ErrorCode::kFormat, unread.front().why, unread.front().file, -1};
  }
  const HangReport report = find_hang(dumps, damaged);
  HangView view{report, dumps, std::move(unread), {}};
  for (const CommLogLine& line : read_comm_logs(files.others, report.world.size())) {
    view.evidence.push_back({line.rank, line.inspector ? "nccl_inspector" : "nccl_log", line.text});
  }
  answer.document.verdict = hang_words(view);
  answer.document.sections.push_back(hang_section(view));
  answer.data_lost = !view.unread.empty() || !report.absent.empty();
  return answer;
}

}  // namespace assay
