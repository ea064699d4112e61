#include "kernels/book.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "kernels/name.h"

namespace assay {

extern const char* const kBuiltInKernelTable;  // data/kernel_kinds.txt

struct KernelBook::Parts {
  explicit Parts(const KernelName& name) {
    places[0].add(name.function);
    for (const std::string_view scope : name.scopes) places[1].add(scope);
    for (const KernelName::Argument& argument : name.arguments) {
      places[argument.scope ? 3 : 2].add(argument.text);
    }
    for (const std::string_view parameter : name.parameters) places[4].add(parameter);
    const auto scalar = std::find_if(
        name.arguments.begin(), name.arguments.end(),
        [](const auto& argument) { return argument.text == "float" || argument.text == "double"; });
    if (scalar != name.arguments.end()) places[5].add(scalar->text);
  }

  bool holds(const TableTerm& term) const {
    const auto is = [&](std::string_view told) {
      return std::find(term.answers.begin(), term.answers.end(), told) != term.answers.end();
    };
    if (term.place == NamePlace::kKind) return is(kernel_kind_name(facts.kind)) != term.denied;
    if (term.place == NamePlace::kLibrary) return is(facts.library) != term.denied;
    const WordText& text = places[static_cast<size_t>(term.place)];
    return std::any_of(term.words.begin(), term.words.end(), [&](const WordPattern& pattern) {
             return pattern.matches(text);
           }) != term.denied;
  }

  bool fits(const TableRow& row) const {
    return std::any_of(row.patterns.begin(), row.patterns.end(), [&](const auto& terms) {
      return std::all_of(terms.begin(), terms.end(),
                         [&](const TableTerm& term) { return holds(term); });
    });
  }

  std::array<WordText, 6> places;  // by NamePlace
  KernelFacts facts = {};
};

namespace {

KernelKind kind_named(std::string_view name) {
  for (size_t k = 0; k < kKernelKinds; ++k) {
    if (kernel_kind_name(static_cast<KernelKind>(k)) == name) return static_cast<KernelKind>(k);
  }
  return KernelKind::kOther;
}

constexpr std::string_view kOtherFamily = "Other";

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) {
  constexpr std::array<std::string_view, kKernelKinds> kNames = {
      "other",       "gemm",      "conv", "attention", "norm",     "softmax",
      "elementwise", "reduce",    "scan", "copy",      "quantize", "index",
      "embedding",   "optimizer", "moe",  "random",    "pool",     "communication"};
  return kNames[static_cast<size_t>(kind)];
}

const std::shared_ptr<const KernelBook>& KernelBook::built_in() {
  static const std::shared_ptr<const KernelBook> book = [] {
    auto made = std::make_shared<KernelBook>();
    [[maybe_unused]] const Status added = made->add(kBuiltInKernelTable);
    assert(added);
    for (auto& rows : made->rows_) {
      for (Row& row : rows) row.by_user = false;
    }
    return made;
  }();
  return book;
}

Status KernelBook::add(std::string_view text, const std::string& file) {
  auto parsed = parse_kernel_rows(text);
  if (!parsed) {
    Error error = parsed.take_error();
    error.file = file;
    return error;
  }
  std::array<std::vector<Row>, kKernelAspects> added;
  for (TableRow& row : *parsed) {
    const auto aspect = static_cast<size_t>(row.aspect);
    added[aspect].push_back({std::move(row), true});
  }
  for (size_t a = 0; a < kKernelAspects; ++a) {
    rows_[a].insert(rows_[a].begin(), std::make_move_iterator(added[a].begin()),
                    std::make_move_iterator(added[a].end()));
  }
  number_families();
  return Ok{};
}

void KernelBook::number_families() {
  families_.clear();
  const auto number = [&](const std::string& name) {
    const auto known = std::find(families_.begin(), families_.end(), name);
    const auto place = static_cast<uint16_t>(known - families_.begin());
    if (known == families_.end()) families_.push_back(name);
    return place;
  };
  for (Row& row : rows_[static_cast<size_t>(KernelAspect::kFamily)]) {
    row.family = number(row.value);
  }
  number(std::string(kOtherFamily));
}

const KernelBook::Row* KernelBook::first(KernelAspect aspect, const Parts& parts) const {
  const std::vector<Row>& rows = rows_[static_cast<size_t>(aspect)];
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return parts.fits(row); });
  return found == rows.end() ? nullptr : &*found;
}

KernelFacts KernelBook::classify(std::string_view name) const {
  Parts parts(parse_kernel_name(name));
  KernelFacts& facts = parts.facts;
  if (const Row* row = first(KernelAspect::kLibrary, parts)) facts.library = row->value;
  if (const Row* row = first(KernelAspect::kKind, parts)) {
    facts.kind = kind_named(row->value);
    facts.found = row->guess ? FoundBy::kGuess : FoundBy::kRow;
    facts.line = row->line;
    facts.by_user = row->by_user;
  }
  if (const Row* row = first(KernelAspect::kType, parts)) facts.data_type = row->value;
  if (facts.kind == KernelKind::kCommunication) {
    const Row* row = first(KernelAspect::kCollective, parts);
    facts.collective = row != nullptr ? row->value : std::string(kSomeCollective);
  }
  for (const Row& row : rows_[static_cast<size_t>(KernelAspect::kTag)]) {
    if (!parts.fits(row)) continue;
    const bool known =
        std::find(facts.tags.begin(), facts.tags.end(), row.value) != facts.tags.end();
    if (!known) facts.tags.push_back(row.value);
  }
  const Row* family = first(KernelAspect::kFamily, parts);
  facts.family =
      family != nullptr
          ? family->family
          : static_cast<uint16_t>(std::find(families_.begin(), families_.end(), kOtherFamily) -
                                  families_.begin());
  const Row* vendor = first(KernelAspect::kVendor, parts);
  const Row* native = first(KernelAspect::kNative, parts);
  const Row* paper_native = first(KernelAspect::kPaperNative, parts);
  // A user's vendor row overrides a built-in native row.
  const auto stands_against = [vendor](const Row* other) {
    return vendor != nullptr && (other == nullptr || (vendor->by_user && !other->by_user));
  };
  facts.vendor_library = stands_against(native);
  facts.paper_library = facts.vendor_library && stands_against(paper_native);
  facts.named_native = native != nullptr && !facts.vendor_library;
  return std::move(parts.facts);
}

std::string KernelBook::collective_of(std::string_view text) const {
  const Parts parts(parse_kernel_name(text));
  const Row* row = first(KernelAspect::kCollective, parts);
  return row != nullptr ? row->value : std::string(kSomeCollective);
}

bool KernelBook::is_vendor_op(std::string_view op_name) const {
  for (const Row& row : rows_[static_cast<size_t>(KernelAspect::kVendorOp)]) {
    for (const std::string& op : row.operators) {
      const bool open = op.ends_with('*');
      if (open ? op_name.starts_with(std::string_view(op).substr(0, op.size() - 1)) : op_name == op)
        return true;
    }
  }
  return false;
}

bool all_wait(std::string_view collective) {
  return collective == "all_reduce" || collective == "all_gather" ||
         collective == "reduce_scatter" || collective == "all_to_all" || collective == "barrier";
}

}  // namespace assay
