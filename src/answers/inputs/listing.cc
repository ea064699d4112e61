#include "answers/inputs/listing.h"

#include <algorithm>
#include <map>
#include <set>

#include "answers/answer.h"
#include "base/files.h"
#include "base/json_tree.h"
#include "base/real_path.h"
#include "ingest/formats.h"
#include "ingest/load.h"
#include "ingest/text/whole_file.h"
#include "text/units.h"

namespace assay {
namespace {

constexpr int kDepth = 6;

// The JSON value of a top-level key; discarded if it is missing or truncated. Quotes inside strings
// are escaped, so a key within a string does not match.
nlohmann::ordered_json value_of(std::string_view bytes, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  const size_t at = bytes.find(quoted);
  if (at == std::string_view::npos) return nlohmann::ordered_json::value_t::discarded;
  const size_t begin = bytes.find_first_of("[{", at + quoted.size());
  if (begin == std::string_view::npos) return nlohmann::ordered_json::value_t::discarded;
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = begin; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ']' || c == '}') && --depth == 0) {
      return parsed_ordered_json(bytes.substr(begin, i + 1 - begin));
    }
  }
  return nlohmann::ordered_json::value_t::discarded;
}

int64_t number_in(const nlohmann::ordered_json& object, const char* key) {
  if (!object.is_object()) return -1;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

Value known(int64_t number) { return number < 0 ? Value() : Value(number); }

struct FoundJob {
  int64_t traces = 0;
  std::set<int64_t> ranks = {};
  int64_t world_size = -1;
};

class Listing {
 public:
  void add(const std::string& path) {
    const FileFormat* format = format_among_files(path);
    const auto facts = file_facts(path);
    if (format == nullptr || !facts) {
      ++others_;
      return;
    }
    TraceHead head;
    if (format->family == FileFamily::kTrace) {
      if (const auto bytes = read_head(path, kFormatHeadBytes)) head = trace_head(*bytes);
      if (head.rank < 0) head.rank = rank_from_name(path);
      FoundJob& job = jobs_[folder_of(path)];
      ++job.traces;
      if (head.rank >= 0) job.ranks.insert(head.rank);
      job.world_size = std::max(job.world_size, head.world_size);
    }
    files_.rows.push_back({path, std::string(family_words(format->family)), std::string(format->key),
                           static_cast<int64_t>(facts->bytes), text_or_null(head.device),
                           known(head.rank), known(head.world_size)});
  }
  void leave_out(size_t count) { left_out_ += count; }

  Section take() {
    Table jobs{.key = "jobs",
               .title = "Jobs",
               .columns = {{.key = "folder", .title = "folder", .unit = Unit::kText},
                           {.key = "traces", .title = "traces", .unit = Unit::kCount},
                           {.key = "ranks", .title = "ranks", .unit = Unit::kCount},
                           {.key = "world_size", .title = "world size", .unit = Unit::kCount}},
               .terminal_limit = 0};
    for (const auto& [folder, job] : jobs_) {
      if (job.ranks.size() < 2) continue;
      jobs.rows.push_back({folder, job.traces, static_cast<int64_t>(job.ranks.size()),
                           known(job.world_size)});
    }
    Facts counts{.key = "",
                 .title = "",
                 .items = {{.key = "others",
                            .label = "files of other kinds",
                            .value = others_,
                            .unit = Unit::kCount},
                           {.key = "not_looked_at",
                            .label = "files not looked at",
                            .value = left_out_,
                            .unit = Unit::kCount}}};
    Section section{.key = "", .title = ""};
    section.blocks = {std::move(files_), std::move(jobs), std::move(counts)};
    return section;
  }

 private:
  Table files_{.key = "files",
               .title = "Files",
               .columns = {{.key = "path", .title = "file", .unit = Unit::kText},
                           {.key = "kind", .title = "kind", .unit = Unit::kText},
                           {.key = "format", .title = "format", .unit = Unit::kText},
                           {.key = "bytes", .title = "size", .unit = Unit::kBytes},
                           {.key = "device", .title = "device", .unit = Unit::kText},
                           {.key = "rank", .title = "rank"},
                           {.key = "world_size", .title = "world size", .unit = Unit::kCount}},
               .terminal_limit = 0};
  std::map<std::string, FoundJob> jobs_;
  int64_t others_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace

TraceHead trace_head(std::string_view bytes) {
  TraceHead head;
  const auto devices = value_of(bytes, "deviceProperties");
  if (devices.is_array()) {
    for (const auto& device : devices) {
      const auto name = device.is_object() ? device.find("name") : device.end();
      if (!head.device.empty() || !device.is_object() || name == device.end()) continue;
      if (name->is_string()) head.device = name->get<std::string>();
    }
  }
  const auto job = value_of(bytes, "distributedInfo");
  head.rank = number_in(job, "rank");
  head.world_size = number_in(job, "world_size");
  return head;
}

Result<Document> list_folders(const std::vector<std::string>& folders) {
  Listing listing;
  size_t looked_at = 0;
  Document document = new_document("List");
  for (const std::string& folder : folders) {
    document.inputs.push_back({folder, {}});
    if (is_regular_file(folder)) {
      listing.add(folder);
      continue;
    }
    // For its error: files_below() skips folders that it cannot open.
    ASSAY_TRY(files_in(folder));
    ASSAY_TRY_ASSIGN(const std::string real_folder, real_path(folder));
    std::vector<std::string> files = files_below(folder, kDepth);
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      if (looked_at++ >= kMostListed) continue;
      const auto real = real_path(file);
      if (real && lies_in(*real, real_folder)) listing.add(file);
    }
  }
  if (looked_at > kMostListed) listing.leave_out(looked_at - kMostListed);
  document.sections.push_back(listing.take());
  return document;
}

}  // namespace assay
