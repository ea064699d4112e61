#include "cli/tax_flags.h"

#include "base/byte_source.h"

namespace assay {
namespace {

constexpr size_t kMaxFamiliesBytes = size_t{1} << 20;

Result<std::string> read_text(const std::string& path) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  const ReadFn read = source.stream(false);
  std::string text;
  std::string block(size_t{1} << 14, '\0');
  for (;;) {
    ASSAY_TRY_ASSIGN(const size_t got, read(block.data(), block.size()));
    if (got == 0) return text;
    text.append(block, 0, got);
    if (text.size() > kMaxFamiliesBytes) {
      return Error{ErrorCode::kUnsupported, "larger than 1 MiB: this is no list of families", "",
                   -1};
    }
  }
}

Result<KernelFamilies> load_families(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text(path));
  return extend_kernel_families(builtin_kernel_families(), text);
}

// Replayed times are of operators that ran alone: they fill no thread's time.
TaxMode mode_of(const TaxFlags& flags) {
  if (flags.mode == "code") return TaxMode::kCode;
  if (flags.mode.empty() && flags.replay.empty()) return TaxMode::kExclusive;
  return flags.mode == "exclusive" ? TaxMode::kExclusive : TaxMode::kPaper;
}

}  // namespace

Result<TaxSetup> tax_setup(const TaxFlags& flags) {
  TaxSetup setup;
  setup.options.mode = mode_of(flags);
  setup.options.base_weighting =
      flags.base_weighting == "invocation" ? BaseWeighting::kInvocation : BaseWeighting::kKernel;
  setup.options.count_copies = flags.count_copies;
  setup.families = builtin_kernel_families();
  if (flags.families.empty()) return setup;
  auto families = load_families(flags.families);
  if (!families) {
    Error error = families.take_error();
    error.file = flags.families;
    return error;
  }
  setup.families = *std::move(families);
  return setup;
}

TaxOptions tax_options(const TaxSetup& setup, const LaunchFloor& floor) {
  TaxOptions options = setup.options;
  options.floor = floor;
  options.families = &setup.families;
  return options;
}

}  // namespace assay
