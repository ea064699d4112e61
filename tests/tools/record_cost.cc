// What a record costs the recorder's own thread: CUPTI's buffers of kernels and calls through the
// decoder into a file, in nanoseconds of its CPU time each. Argument: where to put the file.

#include <cstdio>
#include <cstring>
#include <vector>

#include "collect/record/clocks.h"
#include "collect/record/live_names.h"

namespace {

namespace cupti = assay::cupti;

constexpr size_t kSlot = 208;  // sizeof(CUpti_ActivityKernel10)

int next_record(uint8_t* from, size_t valid, void** record) {
  auto* at = *record == nullptr ? from : static_cast<uint8_t*>(*record) + kSlot;
  if (at >= from + valid) return cupti::kMaxLimitReached;
  *record = at;
  return 0;
}
int callback_name(int, uint32_t, const char** name) { return *name = "cudaLaunchKernel_v7000", 0; }

template <typename Record>
void put(std::vector<uint8_t>& buffer, const Record& record) {
  buffer.resize(buffer.size() + kSlot);
  std::memcpy(buffer.data() + buffer.size() - kSlot, &record, sizeof(record));
}

}  // namespace

int main(int, char** argv) {
  constexpr size_t kRecords = 4000;
  constexpr int kBuffers = 500;
  std::vector<uint8_t> buffer;
  const std::string name(200, 'k');
  for (uint32_t i = 0; i < kRecords / 2; ++i) {
    cupti::Api call = {};
    call.kind = cupti::kRuntime;
    call.function = 211;
    call.correlation = i;
    put(buffer, call);
    cupti::Kernel kernel = {};
    kernel.kind = cupti::kConcurrentKernel;
    kernel.correlation = i;
    kernel.name = name.c_str();
    put(buffer, kernel);
  }
  cupti::Functions functions = {};
  functions.next_record = next_record;
  functions.callback_name = callback_name;
  assay::record::Settings settings;
  settings.path = argv[1] != nullptr ? argv[1] : "cost.assaytrace";
  assay::record::TraceFile file;
  if (!file.open(settings)) return 2;
  file.begin();
  assay::record::Area area;
  if (!area.make_own()) return 2;
  assay::record::LiveNames names(functions, file, area);
  assay::record::Decoder decoder(file, names, 1);
  uint64_t records = 0;
  const uint64_t start = assay::record::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kBuffers; ++i)
    decoder.decode(functions, buffer.data(), buffer.size(), records);
  file.flush();
  const uint64_t end = assay::record::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  std::printf("%.1f ns per record, %.1f bytes each\n",
              static_cast<double>(end - start) / (double{kRecords} * kBuffers),
              static_cast<double>(file.bytes()) / (double{kRecords} * kBuffers));
  return 0;
}
