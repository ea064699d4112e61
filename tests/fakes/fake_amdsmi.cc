// AMD SMI of two GPUs that do not exist. The first draws 300 W by its energy counter, which counts
// in 15.259 uJ; the second has no counter and says 250 W, in one of the two layouts that
// amdsmi_power_info_t had. FAKE_AMDSMI names a fault or a layout: no_start, no_gpu, old_layout,
// power_zero_average, no_power, too_old, no_energy, domain0 (the first GPU at 0000:c1:00.0).
// FAKE_HSMP puts two CPU sockets beside them, in the second of which the first GPU is: mi300a;
// protocol5, no_protocol, no_table (their calls fail), elsewhere (the GPU is in neither), twins (in
// both), stops (the table answers four times, so that it is found and read once). Without it, the
// library fails to start with CPUs, as old ones do. FAKE_NO_HSMP builds it without the calls.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

bool is(const char* what) {
  const char* set = std::getenv("FAKE_AMDSMI");
  return set != nullptr && std::strcmp(set, what) == 0;
}

char gpus[2];
char cpus[2];
bool started = false;
bool with_cpus = false;

bool is_first(const void* gpu) { return gpu == &gpus[0]; }
bool is_cpu(const void* processor) { return processor == &cpus[0] || processor == &cpus[1]; }

const char* hsmp() { return std::getenv("FAKE_HSMP"); }
bool hsmp_is(const char* what) { return hsmp() != nullptr && std::strcmp(hsmp(), what) == 0; }

uint64_t boot_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// Of 300 W, in 15.259 uJ.
uint64_t units_at(uint64_t t_ns) {
  return static_cast<uint64_t>(static_cast<double>(t_ns) * 300e-9 / 15.259e-6);
}

}  // namespace

extern "C" {

int amdsmi_init(uint64_t flags) {
  with_cpus = flags == 3 && hsmp() != nullptr;
  started = (flags == 2 || with_cpus) && !is("no_start");
  return started ? 0 : is("no_start") ? 10 : 1;
}
int amdsmi_status_code_to_string(int code, const char** text) {
  return *text = code == 10 ? "NO_PERM" : "fake AMD SMI error", 0;
}
int amdsmi_get_lib_version(uint32_t* version) {
  return version[0] = is("too_old") ? 23 : 27, version[1] = 1, 0;
}
int amdsmi_get_socket_handles(uint32_t* count, void** sockets) {
  if (!started) return 1;
  *count = 0;
  for (uint32_t i = 0; with_cpus && i < 2; ++i) sockets[(*count)++] = &cpus[i];
  for (uint32_t i = 0; !is("no_gpu") && i < 2; ++i) sockets[(*count)++] = &gpus[i];
  return 0;
}
int amdsmi_get_processor_handles(void* socket, uint32_t* count, void** processors) {
  if (is_cpu(socket)) return 2;
  *count = 1;
  processors[0] = socket;
  return 0;
}
#ifndef FAKE_NO_HSMP
int amdsmi_get_processor_handles_by_type(void* socket, int type, void** processors,
                                         uint32_t* count) {
  *count = type == 2 && is_cpu(socket) ? 1 : 0;
  if (*count > 0) processors[0] = socket;
  return 0;
}
int amdsmi_get_cpu_hsmp_proto_ver(void*, uint32_t* version) {
  return *version = hsmp_is("protocol5") ? 5 : 6, hsmp_is("no_protocol") ? 2 : 0;
}
int amdsmi_get_hsmp_metrics_table(void* cpu, void* table) {
  static int reads = 0;
  if (hsmp_is("no_table") || (hsmp_is("stops") && ++reads > 4)) return 2;
  const uint64_t t_ns = boot_ns();
  const bool other = (cpu == &cpus[0] && !hsmp_is("twins")) || hsmp_is("elsewhere");
  const auto socket = static_cast<double>(units_at(t_ns));
  const uint64_t energies[6] = {t_ns / 10,
                                static_cast<uint64_t>(socket) + (other ? 1'000'000'000'000 : 0),
                                static_cast<uint64_t>(0.1 * socket),
                                static_cast<uint64_t>(0.5 * socket),
                                static_cast<uint64_t>(0.2 * socket),
                                static_cast<uint64_t>(0.15 * socket)};
  return std::memcpy(static_cast<char*>(table) + 52, energies, sizeof(energies)), 0;
}
#endif
int amdsmi_get_gpu_device_bdf(void* gpu, uint64_t* bdf) {
  const uint64_t first = is("domain0") || is("no_energy") ? 0xc101 : 0x1'c100;
  return *bdf = is_first(gpu) ? first : 0x0508, 0;
}
int amdsmi_get_gpu_device_uuid(void*, unsigned* length, char* text) {
  const std::string uuid = "a9ff74a1-0000-1000-80be-000000000001";
  if (*length < uuid.size() + 1) return 1;
  std::memcpy(text, uuid.c_str(), uuid.size() + 1);
  return *length = static_cast<unsigned>(uuid.size() + 1), 0;
}
int amdsmi_get_gpu_asic_info(void*, void* info) {
  return std::strcpy(static_cast<char*>(info), "Fake MI325X"), 0;
}
int amdsmi_get_energy_count(void* gpu, uint64_t* count, float* resolution, uint64_t* t_ns) {
  if (!is_first(gpu) || is("no_energy")) return 2;
  *t_ns = boot_ns();
  *resolution = 15.259F;
  *count = units_at(*t_ns);
  return 0;
}
int amdsmi_get_power_info(void*, void* info) {
  if (is("no_power")) return 2;
  auto* words = static_cast<uint32_t*>(info);
  const uint32_t none = 0xffff'ffff;
  if (is("old_layout")) {
    const uint32_t old[] = {none, 250, 850, 900, none, 750};
    std::memcpy(words, old, sizeof(old));
  } else if (is("power_zero_average")) {
    const uint32_t ambiguous[] = {250, 0, 850, 900, none, 750};
    std::memcpy(words, ambiguous, sizeof(ambiguous));
  } else {
    const uint32_t since[] = {250, 0, 250, none, 850, 0};
    std::memcpy(words, since, sizeof(since));
  }
  return 0;
}
int amdsmi_get_gpu_driver_info(void*, void* info) {
  return std::strcpy(static_cast<char*>(info), "6.12.12"), 0;
}
int amdsmi_get_power_cap_info(void*, uint32_t, void* info) {
  const uint64_t microwatts = 1'000'000'000;
  return std::memcpy(info, &microwatts, sizeof(microwatts)), 0;
}
int amdsmi_get_clk_freq(void*, int type, void* frequencies) {
  struct {
    bool deep_sleep = false;
    uint32_t levels = 2;
    uint32_t current = 1;
    uint64_t hz[33] = {};
  } clock;
  clock.hz[0] = 132'000'000;
  clock.hz[1] = type == 0 ? 2'100'000'000 : 1'300'000'000;
  return std::memcpy(frequencies, &clock, sizeof(clock)), 0;
}
int amdsmi_get_gpu_activity(void*, void* usage) {
  const uint32_t percents[16] = {97, 0xffff'ffff, 0};
  return std::memcpy(usage, percents, sizeof(percents)), 0;
}
int amdsmi_get_gpu_memory_usage(void*, int, uint64_t* bytes) { return *bytes = 1 << 30, 0; }
int amdsmi_get_temp_metric(void* gpu, int sensor, int, int64_t* celsius) {
  if (sensor == 1 && !is_first(gpu)) return 2;
  return *celsius = sensor == 1 ? 71 : 55'000, 0;
}

}  // extern "C"
