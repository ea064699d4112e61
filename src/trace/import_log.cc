#include "trace/import_log.h"

namespace assay {

namespace {

constexpr std::array<ImportCodeInfo, kImportCodes> kInfos = {{
#define ASSAY_INFO(name, key, severity, meaning) {key, Severity::severity, meaning},
    ASSAY_IMPORT_CODES(ASSAY_INFO)
#undef ASSAY_INFO
}};

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kRepaired:
      return "repaired";
    case Severity::kDataLoss:
      return "data_loss";
  }
  return "";
}

const ImportCodeInfo& import_code_info(ImportCode code) {
  return kInfos[static_cast<size_t>(code)];
}

void ImportLog::add(ImportCode code, int64_t offset, uint64_t count) {
  if (count == 0) return;
  Entry& entry = entries_[static_cast<size_t>(code)];
  entry.count += count;
  if (offset >= 0 && (entry.first_offset < 0 || offset < entry.first_offset)) {
    entry.first_offset = offset;
  }
}

void ImportLog::take_back(ImportCode code, uint64_t count) {
  Entry& entry = entries_[static_cast<size_t>(code)];
  entry.count -= std::min(entry.count, count);
  if (entry.count == 0) entry.first_offset = -1;
}

void ImportLog::merge(const ImportLog& other) {
  for (size_t i = 0; i < kImportCodes; ++i) {
    add(static_cast<ImportCode>(i), other.entries_[i].first_offset, other.entries_[i].count);
  }
}

bool ImportLog::data_lost() const {
  for (size_t i = 0; i < kImportCodes; ++i) {
    if (entries_[i].count > 0 && kInfos[i].severity == Severity::kDataLoss) return true;
  }
  return false;
}

}  // namespace assay
