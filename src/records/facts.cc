#include "records/facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/ascii.h"
#include "base/decimal.h"
#include "records/facts_check.h"
#include "records/setting_lines.h"

namespace assay {

// The text of data/facts.ini, which CMake embeds into a .cc file.
extern const char* const kBuiltInFacts;

namespace {

struct Attribute {
  const char* kind;
  const char* name;
  bool needed;
};

constexpr Attribute kAttributes[] = {
    {"model", "parameters_b", true},
    {"model", "active_b", false},
    {"model", "experts", false},
    {"model", "experts_used", false},
    {"model", "layers", true},
    {"model", "heads", false},
    {"model", "kv_heads", true},
    {"model", "head_dim", true},
    {"model", "hidden", true},
    {"model", "context", false},
    {"hardware", "tflops", true},
    {"hardware", "bandwidth_tb_s", true},
    {"hardware", "memory_gb", true},
    {"hardware", "link_gb_s", true},
    {"hardware", "fp32_tflops", false},
    {"hardware", "fp64_tflops", false},
    {"hardware", "fp64_vector_tflops", false},
    {"hardware", "fp32_matrix_tflops", false},
    {"hardware", "tf32_tflops", false},
    {"hardware", "bf16_tflops", false},
    {"hardware", "cache_mb", false},
    {"hardware", "cache_tb_s", false},
    {"hardware", "cache_front_mb", false},
    {"hardware", "nic_gb_s", false},
    {"hardware", "fp8_tflops", false},
    {"hardware", "int8_tops", false},
    {"hardware", "fp4_tflops", false},
    {"hardware", "power_w", false},
    {"hardware", "sensor_gain", false},
    {"hardware", "sensor_period_ms", false},
    {"hardware", "sensor_window_ms", false},
    {"hardware", "sensor_average_ms", false},
    {"hardware", "sensor_ramp_ms", false},
    {"hardware", "compute_units", false},
    {"hardware", "matrix_units_per_cu", false},
    {"hardware", "matrix_flop_per_clock", false},
    {"hardware", "xcds", false},
    {"hardware", "clock_mhz", false},
    {"hardware", "ramp_us", false},
    {"architecture", "ramp_us", false},
    {"change", "gemm", false},
    {"change", "attention", false},
    {"change", "conv", false},
    {"change", "embedding", false},
    {"change", "small", false},
    {"change", "collective", false},
    {"change", "other", false},
    {"change", "attention_times", false},
};

// Attributes with words as values.
constexpr Attribute kWords[] = {
    {"hardware", "architecture", false}, {"hardware", "fabric", false},
    {"architecture", "maker", true},     {"architecture", "segment", true},
    {"architecture", "no_units", false},
};

constexpr std::string_view kKinds[] = {"model", "hardware", "architecture", "change"};

template <size_t N>
bool is_among(const Attribute (&attributes)[N], std::string_view kind, std::string_view name) {
  return std::any_of(std::begin(attributes), std::end(attributes),
                     [&](const Attribute& a) { return kind == a.kind && name == a.name; });
}

std::string attributes_of(std::string_view kind) {
  std::string text;
  const auto add = [&](const Attribute& a) {
    if (kind == a.kind) text.append(text.empty() ? "" : ", ").append(a.name);
  };
  std::for_each(std::begin(kAttributes), std::end(kAttributes), add);
  std::for_each(std::begin(kWords), std::end(kWords), add);
  return text;
}

// The compared form of a model's name without organisation and suffixes of variants that share the
// base model's shape.
std::string base_key(std::string_view name) {
  const size_t slash = name.rfind('/');
  std::string key = name_key(slash == std::string_view::npos ? name : name.substr(slash + 1));
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view ending : {"instruct", "chat", "hf", "base"}) {
      if (key.size() > ending.size() &&
          std::string_view(key).substr(key.size() - ending.size()) == ending) {
        key.resize(key.size() - ending.size());
        again = true;
      }
    }
  }
  return key;
}

constexpr std::array<std::string_view, 5> kVendors = {"nvidia", "amd", "intel", "habana", "google"};

// The vendor at the start of a device's key; Habana counts as Intel. Empty if there is none.
std::string_view vendor_of(std::string_view key) {
  for (const std::string_view vendor : kVendors) {
    if (key.substr(0, vendor.size()) == vendor) return vendor == "habana" ? "intel" : vendor;
  }
  return {};
}

std::string without_vendor(std::string key) {
  for (const std::string_view vendor : kVendors) {
    if (key.rfind(vendor, 0) == 0) key.erase(0, vendor.size());
  }
  return key;
}

// "rtx4090" for "rtx409024gb" if the device has 24 GB; empty if the key does not end with the
// memory size.
std::string without_memory(const std::string& key, double memory_gb) {
  const std::string ending = shortest_text(std::round(memory_gb)) + "gb";
  return key.ends_with(ending) ? key.substr(0, key.size() - ending.size()) : "";
}

bool may_be_of(std::string_view asked, std::string_view known) {
  return asked.empty() || known.empty() || asked == known;
}

bool has_key(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Error line_error(const std::string& file, size_t line, const std::string& message) {
  return Error{ErrorCode::kFormat, "line " + std::to_string(line) + ": " + message, file, -1};
}

// Attribute -> its line in this text.
using LinesTold = std::map<std::string, size_t>;

// The error refers to the value's line, or if the value is from an earlier text, to the last line
// of its section.
Error contradiction_error(const std::string& file, const LinesTold& lines,
                          const FactProblem& problem) {
  size_t line = 0;
  for (const auto& told : lines) line = std::max(line, told.second);
  const auto own = lines.find(problem.attribute);
  return line_error(file, own != lines.end() ? own->second : line, problem.message);
}

}  // namespace

const FactBook& FactBook::built_in() {
  static const FactBook book = [] {
    FactBook made;
    // A test checks the built-in text.
    (void)made.add(kBuiltInFacts, "built-in facts").has_value();
    return made;
  }();
  return book;
}

// Parses one text of specifications; holds the open section and the line of each value.
class FactBook::Reading {
 public:
  Reading(FactBook& book, const std::string& file) : book_(book), file_(file), source_(file) {}

  Status take(const SettingLine& line) {
    if (line.kind == SettingLine::Kind::kSection) return open(line);
    if (line.kind == SettingLine::Kind::kOther || section_ == nullptr)
      return line_error(file_, line.number, "expected a [section] or 'attribute = value'");
    if (line.name == "source") {
      source_ = line.value;
    } else if (line.name == "also") {
      add_names(line.value);
    } else {
      return add_value(line);
    }
    return Ok{};
  }

  // Call after the whole text: checks the consistency of the sections in it.
  Status check() const {
    for (const Section& each : book_.sections_) {
      const auto at = lines_told_.find({each.kind, each.name});
      if (at == lines_told_.end()) continue;
      if (const auto problem = contradiction(each.kind, each.values))
        return contradiction_error(file_, at->second, *problem);
    }
    return Ok{};
  }

 private:
  Status open(const SettingLine& line) {
    const size_t space = line.name.find(' ');
    const std::string_view kind = line.name.substr(0, std::min(space, line.name.size()));
    const std::string_view name = trim_spaces(line.name.substr(kind.size()));
    const bool known = std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
    if (!known || name_key(name).empty()) {
      return line_error(file_, line.number,
                        "write a section as [model NAME], [hardware NAME], [architecture NAME] or "
                        "[change NAME]");
    }
    section_ = &book_.open(kind, name);
    section_->files.push_back(file_);
    source_ = file_;
    return Ok{};
  }

  void add_names(std::string_view names) {
    while (!names.empty()) {
      const size_t comma = std::min(names.find(','), names.size());
      const std::string_view name = names.substr(0, comma);
      section_->keys.push_back(name_key(name));
      // Aliases of models also match without organisation and suffixes.
      if (section_->kind == "model" && !base_key(name).empty())
        section_->keys.push_back(base_key(name));
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
  }

  Status add_value(const SettingLine& line) {
    const std::string attribute(line.name);
    const bool is_word = is_among(kWords, section_->kind, attribute);
    if (!is_word && !is_among(kAttributes, section_->kind, attribute)) {
      return line_error(file_, line.number,
                        "a " + section_->kind + " has no '" + attribute +
                            "': it has also, source, " + attributes_of(section_->kind));
    }
    Fact fact{0, source_};
    if (!line.origin().empty()) fact.source = line.origin();
    const std::string_view value = line.proper();
    if (is_word) fact.word = value;
    if (is_word && value.empty())
      return line_error(file_, line.number, attribute + " needs a word");
    if (!is_word && (!parse_double(value, fact.value) || !(fact.value > 0))) {
      return line_error(file_, line.number,
                        attribute + " needs a number above 0, not '" + std::string(value) + "'");
    }
    section_->values[attribute] = std::move(fact);
    lines_told_[{section_->kind, section_->name}][attribute] = line.number;
    return Ok{};
  }

  FactBook& book_;
  const std::string& file_;
  std::string source_;
  Section* section_ = nullptr;
  std::map<std::pair<std::string, std::string>, LinesTold> lines_told_;
};

Status FactBook::add(std::string_view text, const std::string& file) {
  std::vector<Section> before = sections_;
  Reading reading(*this, file);
  SettingLines lines(text);
  Status told = Ok{};
  while (told) {
    const auto line = lines.next();
    if (!line) break;
    told = reading.take(*line);
  }
  if (told) told = reading.check();
  if (!told) {
    sections_ = std::move(before);
    return told;
  }
  for (Section& each : sections_) complete(each);
  return Ok{};
}

FactBook::Section& FactBook::open(std::string_view kind, std::string_view name) {
  const std::string key = name_key(name);
  for (Section& section : sections_) {
    if (section.kind == kind && has_key(section.keys, key)) return section;
  }
  sections_.push_back({.kind = std::string(kind), .name = std::string(name), .keys = {key}});
  if (kind == "model") sections_.back().bare_key = base_key(name);
  return sections_.back();
}

void FactBook::complete(Section& section) {
  const auto value = [&](const char* name, double otherwise) {
    const auto at = section.values.find(name);
    return at == section.values.end() ? otherwise : at->second.value;
  };
  section.missing.clear();
  for (const Attribute& a : kAttributes) {
    if (section.kind == a.kind && a.needed && section.values.count(a.name) == 0)
      section.missing.emplace_back(a.name);
  }
  if (section.kind == "hardware") {
    section.hardware = {.name = section.name,
                        .tflops = value("tflops", 0),
                        .bandwidth_tb_s = value("bandwidth_tb_s", 0),
                        .memory_gb = value("memory_gb", 0),
                        .link_gb_s = value("link_gb_s", 0),
                        .fp32_tflops = value("fp32_tflops", 0),
                        .fp8_tflops = value("fp8_tflops", 0),
                        .int8_tops = value("int8_tops", 0),
                        .fp4_tflops = value("fp4_tflops", 0)};
    return;
  }
  const double parameters = value("parameters_b", 0);
  section.model = {.name = section.name,
                   .parameters_b = parameters,
                   .active_b = std::min(value("active_b", parameters), parameters),
                   .experts = value("experts", 1),
                   .experts_used = std::min(value("experts_used", 1), value("experts", 1)),
                   .layers = value("layers", 0),
                   .heads = value("heads", 0),
                   .kv_heads = value("kv_heads", 0),
                   .head_dim = value("head_dim", 0),
                   .hidden = value("hidden", 0),
                   .context = value("context", 0)};
}

const FactBook::Section* FactBook::find(std::string_view kind, std::string_view name) const {
  const std::string key = name_key(name);
  if (key.empty()) return nullptr;
  for (const Section& section : sections_) {
    if (section.kind == kind && has_key(section.keys, key)) return &section;
  }
  // Device names of drivers contain the vendor ("NVIDIA A100-SXM4-80GB").
  const bool is_model = kind == "model";
  const std::string bare = is_model ? base_key(name) : without_vendor(key);
  // A vendor or an organisation alone is not a name.
  if (bare.empty()) return nullptr;
  const std::string_view vendor = is_model ? std::string_view() : vendor_of(key);
  for (const Section& section : sections_) {
    if (section.kind != kind || !may_be_of(vendor, vendor_of(section.keys.front()))) continue;
    if (section.bare_key == bare || has_key(section.keys, bare)) return &section;
  }
  return is_model ? nullptr : find_by_memory(bare, vendor);
}

const FactBook::Section* FactBook::find_by_memory(const std::string& bare,
                                                  std::string_view vendor) const {
  for (const Section& section : sections_) {
    if (section.kind != "hardware" || !section.complete()) continue;
    if (!may_be_of(vendor, vendor_of(section.keys.front()))) continue;
    const std::string shorter = without_memory(bare, section.hardware.memory_gb);
    if (!shorter.empty() && (section.bare_key == shorter || has_key(section.keys, shorter)))
      return &section;
  }
  return nullptr;
}

const ModelFacts* FactBook::model(std::string_view name) const {
  const Section* section = find("model", name);
  return section != nullptr && section->complete() ? &section->model : nullptr;
}

const HardwareFacts* FactBook::hardware(std::string_view name) const {
  const Section* section = find("hardware", name);
  return section != nullptr && section->complete() ? &section->hardware : nullptr;
}

std::vector<std::string> FactBook::model_names() const {
  std::vector<std::string> names;
  for (const Section& section : sections_) {
    if (section.kind == "model" && section.complete()) names.push_back(section.name);
  }
  return names;
}

std::vector<std::string> FactBook::hardware_names() const {
  std::vector<std::string> names;
  for (const Section& section : sections_) {
    if (section.kind == "hardware" && section.complete()) names.push_back(section.name);
  }
  return names;
}

std::map<std::string, Fact> FactBook::values(std::string_view kind, std::string_view name) const {
  const Section* section = find(kind, name);
  return section != nullptr ? section->values : std::map<std::string, Fact>();
}

std::optional<FactSection> FactBook::section(std::string_view kind, std::string_view name) const {
  const Section* found = find(kind, name);
  if (found == nullptr) return std::nullopt;
  return FactSection{found->kind, found->name, found->missing};
}

std::vector<FactSection> FactBook::sections_of(const std::string& file) const {
  std::vector<FactSection> out;
  for (const Section& section : sections_) {
    if (has_key(section.files, file)) out.push_back({section.kind, section.name, section.missing});
  }
  return out;
}

const ModelFacts* FactLookup::model(const std::string& name) {
  const auto [at, is_new] = models_.emplace(name, nullptr);
  if (is_new) at->second = book_->model(name);
  return at->second;
}

const HardwareFacts* FactLookup::hardware(const std::string& name) {
  const auto [at, is_new] = hardware_.emplace(name, nullptr);
  if (is_new) at->second = book_->hardware(name);
  return at->second;
}

}  // namespace assay
