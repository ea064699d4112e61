#include "report/perfetto/text.h"

#include <charconv>

#include "base/json_string.h"
#include "trace/wait_names.h"

namespace assay {
namespace {

void append_key(std::string_view key, std::string& out) {
  if (out.back() != '{') out += ',';
  append_json_string(key, out);
  out += ':';
}

}  // namespace

std::string_view chrome_category(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kKernel:
      return "kernel";
    case ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ActivityKind::kMemset:
      return "gpu_memset";
    case ActivityKind::kSync:
      return "cuda_sync";
    case ActivityKind::kOther:
      break;
  }
  return {};
}

void append_integer(int64_t value, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.append(digits, end);
}

void append_microseconds(int64_t ns, std::string& out) {
  if (ns < 0) out += '-';
  const auto size = ns < 0 ? ~static_cast<uint64_t>(ns) + 1 : static_cast<uint64_t>(ns);
  append_integer(static_cast<int64_t>(size / 1000), out);
  const auto rest = static_cast<unsigned>(size % 1000);
  const char fraction[4] = {'.', static_cast<char>('0' + rest / 100),
                            static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
  out.append(fraction, sizeof(fraction));
}

void append_member(std::string_view key, int64_t value, std::string& out) {
  append_key(key, out);
  append_integer(value, out);
}

void append_member(std::string_view key, std::string_view text, std::string& out) {
  append_key(key, out);
  append_json_string(text, out);
}

void append_wait(const WaitTable& waits, size_t row, std::string& out) {
  const WaitKind kind = waits.kind[row];
  append_member("cuda_sync_kind", wait_name(kind), out);
  if (kind != WaitKind::kEventSync && kind != WaitKind::kStreamWaitEvent) return;
  append_member("wait_on_stream", waits.waited_stream[row], out);
  if (waits.record_correlation[row] == 0) return;
  append_member("wait_on_cuda_event_record_corr_id", waits.record_correlation[row], out);
}

uint32_t LaneIds::take(std::string_view text) {
  uint32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (whole && number > 0 && taken_.insert(number).second) return number;
  return fresh();
}

uint32_t LaneIds::fresh() {
  while (!taken_.insert(next_).second) ++next_;
  return next_++;
}

}  // namespace assay
