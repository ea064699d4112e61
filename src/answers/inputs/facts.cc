#include "answers/inputs/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/text/csv_table.h"

namespace assay {

Result<FactBook> load_facts(const std::string& path) {
  FactBook facts = FactBook::built_in();
  if (path.empty()) return facts;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  ASSAY_TRY(facts.add(text, path));
  return facts;
}

std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const FactNames& names) {
  if (path.empty()) return std::nullopt;
  ImportNote note{.code = "facts_unused", .severity = "info"};
  const std::vector<FactSection> sections = facts.sections_of(path);
  if (sections.empty()) {
    note.count = 1;
    note.meaning = path + " has no section and is not used";
    return note;
  }
  const auto is_asked = [&](const FactSection& section) {
    const auto& asked = section.kind == "model" ? names.models : names.devices;
    return std::any_of(asked.begin(), asked.end(), [&](const std::string& name) {
      const auto found = facts.section(section.kind, name);
      return found && found->name == section.name;
    });
  };
  for (const FactSection& section : sections) {
    const bool lacks_values = names.only_complete && !section.missing.empty();
    if (!lacks_values && is_asked(section)) continue;
    const std::string why = lacks_values ? fmt::format("lacks {}", fmt::join(section.missing, ", "))
                                         : "is of nothing that this answer looks up";
    note.meaning +=
        fmt::format("{}[{} {}] {}", note.count == 0 ? "not used of " + path + ": " : "; ",
                    section.kind, section.name, why);
    ++note.count;
  }
  if (note.count == 0) return std::nullopt;
  return note;
}

std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const std::vector<DeviceProperties>& devices,
                                       const std::string& asked) {
  FactNames names;
  if (!asked.empty()) names.devices.push_back(asked);
  for (const DeviceProperties& device : devices) {
    if (asked.empty()) names.devices.push_back(device.name);
  }
  return unused_facts(facts, path, names);
}

Status check_peaks_device(const FactBook& facts, const std::string& name) {
  if (!facts.values("hardware", name).empty()) return Ok{};
  return unknown_gpu("--peaks " + name);
}

Error unknown_gpu(const std::string& name, const std::string& file) {
  return {ErrorCode::kInvalidArgument,
          name + ": no such GPU in the specifications (docs/formats/facts.md)", file, -1};
}

}  // namespace assay
