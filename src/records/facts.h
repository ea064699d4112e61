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
  double active_b = 0;      // weights that work on one token, in 1e9; = parameters_b unless experts
  double experts = 1;       // per layer
  double experts_used = 1;  // of those, per token
  double layers = 0;
  double heads = 0;     // of queries; 0 = unknown
  double kv_heads = 0;  // mean over layers
  double head_dim = 0;
  double hidden = 0;
  double context = 0;  // tokens; 0 = unknown

  // K and V of one token in FP16, all layers.
  double kv_gb_per_token() const { return 4 * layers * kv_heads * head_dim / 1e9; }
};

struct HardwareFacts {
  std::string name;
  double tflops = 0;          // dense FP16 or BF16
  double bandwidth_tb_s = 0;  // HBM
  double memory_gb = 0;
  double link_gb_s = 0;  // to peers, one direction
  // Dense peaks of other formats; 0 = unknown.
  double fp32_tflops = 0;
  double fp8_tflops = 0;
  double int8_tops = 0;
  double fp4_tflops = 0;
};

// A value with where it is from.
struct Fact {
  double value = 0;
  std::string source;
  std::string word = {};  // for attributes with a word, such as "fabric"; `value` is then 0
};

// A section of a facts file.
struct FactSection {
  std::string kind;  // "model", "hardware", "architecture" or "change"
  std::string name;
  std::vector<std::string> missing;  // required values without a source; if there are any, model()
                                     // and hardware() do not find it
};

// Specifications by name. Names are compared without letter case and punctuation. If a model's name
// is not listed, it is tried without its organisation ("org/") and without suffixes of fine-tuned
// variants such as "-Instruct", which have the shape of their base model. A device's name is tried
// without its memory ("L4 24GB").
class FactBook {
 public:
  static const FactBook& built_in();

  // Adds the sections of a facts file. Values of a section that exists already win over the old
  // ones; the others stay. Errors name the line.
  Status add(std::string_view text, const std::string& file = "");

  // nullptr: nothing is known under this name, or a needed value is missing.
  const ModelFacts* model(std::string_view name) const;
  const HardwareFacts* hardware(std::string_view name) const;
  // Those that are known by all needed values.
  std::vector<std::string> model_names() const;
  std::vector<std::string> hardware_names() const;
  // Every value of a section with its source, by attribute; empty when there is no such section.
  std::map<std::string, Fact> values(std::string_view kind, std::string_view name) const;
  // The section that a name leads to, also where it lacks needed values.
  std::optional<FactSection> section(std::string_view kind, std::string_view name) const;
  // The sections that the file given to add() has, in the book's order.
  std::vector<FactSection> sections_of(const std::string& file) const;

 private:
  class Reading;
  struct Section {
    std::string kind = {};
    std::string name = {};
    std::vector<std::string> keys = {};  // of the name and of the other names, as compared
    std::string bare_key = {};           // a model's name without organisation and endings
    std::map<std::string, Fact> values = {};
    ModelFacts model = {};
    HardwareFacts hardware = {};
    std::vector<std::string> missing = {};  // needed values
    std::vector<std::string> files = {};    // that have the section
    bool complete() const { return missing.empty(); }
  };
  const Section* find(std::string_view kind, std::string_view name) const;
  // A device called by a name that ends in the memory that it has. bare: without the vendor.
  const Section* find_by_memory(const std::string& bare, std::string_view vendor) const;
  Section& open(std::string_view kind, std::string_view name);
  static void complete(Section& section);

  std::vector<Section> sections_;
};

// The same for thousands of rows with few names: each is looked up once. The book must outlive it
// and stay as it is. Not for several threads at once.
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
