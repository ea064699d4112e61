#pragma once

// Specifications of models and devices (docs/formats/facts.md): compiled in from data/facts.ini,
// extended or overridden by a user's file. Each value has a public source. Used by every module
// with an analytical model.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace assay {

struct ModelFacts {
  std::string name;
  double parameters_b = 0;  // all weights, in 1e9
  double active_b = 0;      // weights used per token, in 1e9; = parameters_b unless experts
  double experts = 1;       // per layer
  double experts_used = 1;  // per token
  double layers = 0;
  double heads = 0;     // of queries; 0 = unknown
  double kv_heads = 0;  // mean over layers
  double head_dim = 0;
  double hidden = 0;
  double context = 0;  // tokens; 0 = unknown

  // Size of K and V of one token in FP16, all layers, in GB.
  double kv_gb_per_token() const { return 4 * layers * kv_heads * head_dim / 1e9; }
};

struct HardwareFacts {
  std::string name;
  double tflops = 0;          // dense FP16 or BF16
  double bandwidth_tb_s = 0;  // HBM
  double memory_gb = 0;
  double link_gb_s = 0;  // to peers, per direction
  // Dense peaks of other formats; 0 = unknown.
  double fp32_tflops = 0;
  double fp8_tflops = 0;
  double int8_tops = 0;
  double fp4_tflops = 0;
};

// A value and its source.
struct Fact {
  double value = 0;
  std::string source;
  std::string word = {};  // value of attributes such as "fabric"; `value` is then 0
};

// A section of a facts file.
struct FactSection {
  std::string kind;  // "model", "hardware", "architecture" or "change"
  std::string name;
  std::vector<std::string> missing;  // missing required values; if there are any, model() and
                                     // hardware() do not find it
};

// Specifications by name. Comparing names ignores letter case and punctuation. If a model is not
// listed under a name, it is looked up without its organisation ("org/") and without suffixes of
// fine-tuned variants such as "-Instruct", which have the shape of their base model; a device is
// looked up without its memory size ("L4 24GB").
class FactBook {
 public:
  static const FactBook& built_in();

  // Adds the sections of a facts file. Its values replace existing values of a section; other
  // existing values stay. Errors name the line, and leave the book unchanged.
  Status add(std::string_view text, const std::string& file = "");

  // nullptr if the name is unknown, or if a required value is missing.
  const ModelFacts* model(std::string_view name) const;
  const HardwareFacts* hardware(std::string_view name) const;
  // Names of the sections with all required values.
  std::vector<std::string> model_names() const;
  std::vector<std::string> hardware_names() const;
  // All values of a section by attribute; empty if there is no such section.
  std::map<std::string, Fact> values(std::string_view kind, std::string_view name) const;
  // The section of a name, even if required values are missing.
  std::optional<FactSection> section(std::string_view kind, std::string_view name) const;
  // The sections of a file that was given to add(), in the book's order.
  std::vector<FactSection> sections_of(const std::string& file) const;

 private:
  class Reading;
  struct Section {
    std::string kind = {};
    std::string name = {};
    std::vector<std::string> keys = {};  // compared forms of the name and its aliases
    std::string bare_key = {};           // a model's name without organisation and suffixes
    std::map<std::string, Fact> values = {};
    ModelFacts model = {};
    HardwareFacts hardware = {};
    std::vector<std::string> missing = {};  // required values
    std::vector<std::string> files = {};    // files with this section
    bool complete() const { return missing.empty(); }
  };
  const Section* find(std::string_view kind, std::string_view name) const;
  // A device with its memory size at the end of its name. bare: the name without the vendor.
  const Section* find_by_memory(const std::string& bare, std::string_view vendor) const;
  Section& open(std::string_view kind, std::string_view name);
  static void complete(Section& section);

  std::vector<Section> sections_;
};

// Caches look-ups, for thousands of rows with few names. The book must outlive it and must not
// change. Not thread-safe.
class FactLookup {
 public:
  explicit FactLookup(const FactBook& book) : book_(&book) {}
  const ModelFacts* model(const std::string& name);
  const HardwareFacts* hardware(const std::string& name);

 private:
  const FactBook* book_;
  std::unordered_map<std::string, const ModelFacts*> models_;
  std::unordered_map<std::string, const HardwareFacts*> hardware_;
};

}  // namespace assay
