// A program to be recorded: does what its arguments say, one after the other, through libcuda.so.1
// and NVTX. launch N, runtime N, asked N (launches with what a framework asks before each, and an
// event behind it), graph N, copy BYTES, fill BYTES, sync, init, push NAME, pop, start NAME, end,
// mark NAME, ranges N (of as many names), memory FILE (the most it ever had, in KiB), spent FILE
// (processor time of this thread so far, in ns), domain NAME (for the next push), fork (the child
// goes on to "join", the parent waits there), join, kill, segfault, abort, kernel NAME (of the
// launches that follow), unload NAME (the module goes, and the next one's kernel has this name at
// the same address), operators N (fake_observer.cc), pause MICROSECONDS, exit CODE, _exit CODE,
// ready FILE (makes it), await FILE (waits until there is one, and gives up with code 8 when nobody
// makes it).

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "collect/record/nvtx_abi.h"

namespace {

namespace nvtx = assay::nvtx;

void* library = nullptr;
void* function = nullptr;

template <typename Function>
Function* driver(const char* name) {
  if (library == nullptr) library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "traced program: no driver\n");
    std::exit(9);
  }
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void start_cuda() {
  if (function != nullptr) return;
  driver<int(unsigned)>("cuInit")(0);
  driver<int(void**, void*, const char*)>("cuModuleGetFunction")(&function, nullptr, "saxpy");
}

// NVTX as its headers do it: one table of pointers, filled by the library that the environment
// names.
nvtx::FunctionPointer core[16] = {};
nvtx::FunctionPointer domains[16] = {};
nvtx::FunctionPointer* core_table[17] = {};
nvtx::FunctionPointer* domain_table[17] = {};

int module_functions(int module, nvtx::FunctionTable* table, unsigned* size) {
  if (module != nvtx::kModuleCore && module != nvtx::kModuleDomains) return 0;
  *table = module == nvtx::kModuleCore ? core_table : domain_table;
  *size = 16;
  return 1;
}
const nvtx::CallbackTable callbacks = {sizeof(callbacks), module_functions};
const void* export_table(uint32_t id) {
  return id == nvtx::kExportCallbacks ? &callbacks : nullptr;
}

void start_nvtx() {
  static bool started = false;
  if (started) return;
  started = true;
  for (unsigned i = 0; i < 16; ++i) {
    core_table[i] = &core[i];
    domain_table[i] = &domains[i];
  }
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* injected = path != nullptr ? ::dlopen(path, RTLD_NOW) : nullptr;
  if (injected == nullptr) return;
  auto* start = reinterpret_cast<int (*)(nvtx::GetExportTable)>(
      ::dlsym(injected, "InitializeInjectionNvtx2"));
  if (start != nullptr) start(export_table);
}

template <typename Function, typename... Arguments>
uint64_t call(nvtx::FunctionPointer pointer, Arguments... arguments) {
  if (pointer == nullptr) return 0;
  if constexpr (std::is_void_v<decltype(std::declval<Function*>()(arguments...))>) {
    reinterpret_cast<Function*>(pointer)(arguments...);
    return 0;
  } else {
    return static_cast<uint64_t>(reinterpret_cast<Function*>(pointer)(arguments...));
  }
}

char kernel_name[256] = {};
void* domain = nullptr;
uint64_t started_range = 0;

void await(const char* file) {
  constexpr int kMostTries = 600'000;  // ten minutes
  for (int tries = 0; ::access(file, F_OK) != 0; ++tries) {
    if (tries == kMostTries) std::_Exit(8);
    ::usleep(1000);
  }
}

void push(const char* name) {
  start_nvtx();
  if (domain == nullptr) {
    call<int(const char*)>(core[nvtx::kRangePushA], name);
    return;
  }
  nvtx::Attributes attributes = {};
  attributes.version = 3;
  attributes.bytes = sizeof(attributes);
  attributes.message_type = nvtx::kMessageAscii;
  attributes.message = name;
  call<int(void*, const nvtx::Attributes*)>(domains[nvtx::kDomainRangePushEx], domain,
                                            static_cast<const nvtx::Attributes*>(&attributes));
}

void many_ranges(long count) {
  for (long i = 0; i < count; ++i) {
    push(("range number " + std::to_string(i)).c_str());
    call<int()>(core[nvtx::kRangePop]);
  }
}

// Peak of resident memory as the kernel counts it.
void write_memory(const char* path) {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  std::FILE* out = std::fopen(path, "w");
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof(line), status) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) std::fprintf(out, "%ld\n", std::atol(line + 6));
  }
  if (status != nullptr) std::fclose(status);
  if (out != nullptr) std::fclose(out);
}

void see_operators(long count) {
  const char* path = std::getenv("ASSAY_RECORD_TORCH");
  void* observer = path != nullptr ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (observer == nullptr) return;
  reinterpret_cast<void (*)(long)>(::dlsym(observer, "assay_fake_operators"))(count);
}

// A program that writes where it must not.
[[noreturn]] void scribble(uint64_t seed) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::strstr(line, "/memfd:assay-record") == nullptr) continue;
    std::sscanf(line, "%lx-%lx", &from, &to);
    constexpr int kWords = 4000;
    for (int i = 0; i < kWords; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      // More of them where the tables are than where the buffers are, and some small numbers.
      const uint64_t size = i % 4 == 0 ? to - from : i % 4 == 1 ? 8192 : 1 << 18;
      auto* at = reinterpret_cast<uint32_t*>(from + (seed >> 20) % size / 4 * 4);
      const bool is_use = reinterpret_cast<uint64_t>(at) == from;
      if (!is_use) *at = static_cast<uint32_t>(i % 3 == 0 ? seed >> 33 : seed >> 58);
    }
  }
  ::raise(SIGKILL);
  std::abort();
}

void write_spent(const char* path) {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  std::FILE* out = std::fopen(path, "w");
  if (out == nullptr) return;
  std::fprintf(out, "%lld\n", static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec);
  std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
  pid_t child = -1;
  for (int i = 1; i < argc; ++i) {
    const std::string verb = argv[i];
    const char* word = i + 1 < argc ? argv[i + 1] : "";
    const long number = std::atol(word);
    const bool takes_word = verb != "sync" && verb != "init" && verb != "pop" && verb != "end" &&
                            verb != "fork" && verb != "join" && verb != "kill" &&
                            verb != "segfault" && verb != "abort";
    if (takes_word) ++i;
    if (verb == "init") {
      start_cuda();
    } else if (verb == "launch") {
      start_cuda();
      auto* launch = driver<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, void*, void**, void**)>("cuLaunchKernel");
      for (long n = 0; n < number; ++n) {
        launch(function, 4, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr);
      }
    } else if (verb == "runtime") {
      start_cuda();
      for (long n = 0; n < number; ++n) driver<int(const void*)>("cudaLaunchKernel")(nullptr);
    } else if (verb == "asked") {
      start_cuda();
      int device = 0;
      for (long n = 0; n < number; ++n) {
        driver<int(int*)>("cudaGetDevice")(&device);
        driver<int(const void*)>("cudaLaunchKernel")(nullptr);
        driver<int(void*, void*)>("cudaEventRecord")(nullptr, nullptr);
      }
    } else if (verb == "graph") {
      start_cuda();
      for (long n = 0; n < number; ++n)
        driver<int(void*, void*)>("cuGraphLaunch")(nullptr, nullptr);
    } else if (verb == "copy") {
      start_cuda();
      driver<int(uint64_t, const void*, size_t, void*)>("cuMemcpyHtoDAsync_v2")(
          0, nullptr, static_cast<size_t>(number), nullptr);
    } else if (verb == "fill") {
      start_cuda();
      driver<int(uint64_t, unsigned char, size_t, void*)>("cuMemsetD8Async")(
          0, 0, static_cast<size_t>(number), nullptr);
    } else if (verb == "sync") {
      start_cuda();
      driver<int()>("cuCtxSynchronize")();
    } else if (verb == "await") {
      await(word);
    } else if (verb == "ranges") {
      many_ranges(number);
    } else if (verb == "memory") {
      write_memory(word);
    } else if (verb == "operators") {
      see_operators(number);
    } else if (verb == "scribble") {
      scribble(static_cast<uint64_t>(number));
    } else if (verb == "spent") {
      write_spent(word);
    } else if (verb == "push") {
      push(word);
    } else if (verb == "domain") {
      start_nvtx();
      auto* create = reinterpret_cast<void* (*)(const char*)>(domains[nvtx::kDomainCreateA]);
      if (create != nullptr) domain = create(word);
    } else if (verb == "pop") {
      start_nvtx();
      if (domain == nullptr) {
        call<int()>(core[nvtx::kRangePop]);
      } else {
        call<int(void*)>(domains[nvtx::kDomainRangePop], domain);
      }
    } else if (verb == "start") {
      start_nvtx();
      started_range =
          call<uint64_t(const char*)>(core[nvtx::kRangeStartA], static_cast<const char*>(word));
    } else if (verb == "end") {
      call<void(uint64_t)>(core[nvtx::kRangeEnd], started_range);
    } else if (verb == "mark") {
      start_nvtx();
      call<void(const char*)>(core[nvtx::kMarkA], static_cast<const char*>(word));
    } else if (verb == "fork") {
      child = ::fork();
      if (child == 0) continue;
      while (i + 1 < argc && std::strcmp(argv[i + 1], "join") != 0) ++i;
    } else if (verb == "join") {
      if (child == 0) return 0;
      int status = 0;
      ::waitpid(child, &status, 0);
    } else if (verb == "kill") {
      ::raise(SIGKILL);
    } else if (verb == "segfault") {
      ::signal(SIGSEGV, SIG_DFL);
      ::raise(SIGSEGV);
    } else if (verb == "abort") {
      std::abort();
    } else if (verb == "pause") {
      ::usleep(static_cast<useconds_t>(number));
    } else if (verb == "kernel") {
      start_cuda();
      std::snprintf(kernel_name, sizeof(kernel_name), "%s", word);
      function = kernel_name;
    } else if (verb == "unload") {
      driver<int(void*)>("cuModuleUnload")(nullptr);
      std::snprintf(kernel_name, sizeof(kernel_name), "%s", word);
    } else if (verb == "ready") {
      if (std::FILE* file = std::fopen(word, "w")) std::fclose(file);
    } else if (verb == "_exit") {
      ::_exit(static_cast<int>(number));
    } else if (verb == "exit") {
      return static_cast<int>(number);
    }
  }
  return 0;
}
