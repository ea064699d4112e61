// A program to be recorded on AMD GPUs that do not exist: does what its arguments say, one after
// the other. init, launch N, asked N (with what a framework asks before each, and an event behind
// it), graph N, fill N, scratch (a launch that needs scratch memory), copy FROM-TO-BYTES (numbers
// of GPUs, h = host), device N, stream N (for what follows), threads N (each launches 50 times on a
// stream of its own), sync, push NAME, pop, start NAME, end, mark NAME, name NAME (of the thread),
// cuda N (launches by libcuda.so.1), fork (the child goes on to "join", the parent waits there),
// join, exec (becomes itself with the arguments that follow), kill, exit CODE, _exit CODE,
// ready FILE, await FILE.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void* open_library(const char* name) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "traced program: no %s\n", name);
    std::exit(9);
  }
  return library;
}

template <typename Function>
Function* hip(const char* name) {
  static void* library = open_library("libamdhip64.so.6");
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

uint64_t stream = 0;

void launch(long count) {
  for (long i = 0; i < count; ++i) hip<int(uint64_t, int)>("fake_hip_launch")(stream, 0);
}

void launch_in_threads(long count) {
  std::vector<std::thread> threads;
  for (long i = 0; i < count; ++i) {
    threads.emplace_back([i] {
      for (int n = 0; n < 50; ++n) {
        hip<int(uint64_t, int)>("fake_hip_launch")(static_cast<uint64_t>(i) + 1, 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int gpu_of(const std::string& word) { return word == "h" ? -1 : std::atoi(word.c_str()); }

void copy(const std::string& word) {
  const size_t first = word.find('-');
  const size_t second = word.find('-', first + 1);
  hip<int(uint64_t, int, int, uint64_t)>("fake_hip_copy")(
      stream, gpu_of(word.substr(0, first)), gpu_of(word.substr(first + 1, second - first - 1)),
      std::strtoull(word.c_str() + second + 1, nullptr, 10));
}

void launch_cuda(long count) {
  void* driver = open_library("libcuda.so.1");
  const auto call = [driver](const char* name) { return ::dlsym(driver, name); };
  reinterpret_cast<int (*)(unsigned)>(call("cuInit"))(0);
  void* function = nullptr;
  reinterpret_cast<int (*)(void**, void*, const char*)>(call("cuModuleGetFunction"))(
      &function, nullptr, "saxpy");
  for (long i = 0; i < count; ++i) {
    reinterpret_cast<int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, void*, void**, void**)>(call("cuLaunchKernel"))(
        function, 4, 1, 1, 128, 1, 1, 0, nullptr, nullptr, nullptr);
  }
}

void await(const char* file) {
  constexpr int kMostTries = 600'000;  // ten minutes
  for (int tries = 0; ::access(file, F_OK) != 0; ++tries) {
    if (tries == kMostTries) std::_Exit(8);
    ::usleep(1000);
  }
}

bool takes_word(const std::string& verb) {
  for (const char* alone :
       {"init", "sync", "scratch", "pop", "end", "fork", "join", "exec", "kill"}) {
    if (verb == alone) return false;
  }
  return true;
}

uint64_t started = 0;

void work(const std::string& verb, const char* word, long number) {
  if (verb == "init") hip<int(unsigned)>("hipInit")(0);
  if (verb == "launch") launch(number);
  if (verb == "scratch") hip<int(uint64_t, int)>("fake_hip_launch")(stream, 1);
  if (verb == "threads") launch_in_threads(number);
  if (verb == "copy") copy(word);
  if (verb == "device") hip<int(int)>("hipSetDevice")(static_cast<int>(number));
  if (verb == "stream") stream = static_cast<uint64_t>(number);
  if (verb == "sync") hip<int()>("hipDeviceSynchronize")();
  if (verb == "push") hip<int(const char*)>("roctxRangePushA")(word);
  if (verb == "pop") hip<int()>("roctxRangePop")();
  if (verb == "start") started = hip<uint64_t(const char*)>("roctxRangeStartA")(word);
  if (verb == "end") hip<void(uint64_t)>("roctxRangeStop")(started);
  if (verb == "mark") hip<void(const char*)>("roctxMarkA")(word);
  if (verb == "name") hip<void(const char*)>("roctxNameOsThread")(word);
  if (verb == "cuda") launch_cuda(number);
  if (verb == "await") await(word);
  if (verb == "kill") ::raise(SIGKILL);
  for (long i = 0; i < number && verb == "graph"; ++i) hip<int(uint64_t)>("fake_hip_graph")(stream);
  for (long i = 0; i < number && verb == "fill"; ++i) hip<int(uint64_t)>("fake_hip_fill")(stream);
  int device = 0;
  for (long i = 0; i < number && verb == "asked"; ++i) {
    hip<int(int*)>("hipGetDevice")(&device);
    launch(1);
    hip<int(void*, void*)>("hipEventRecord")(nullptr, nullptr);
  }
  if (verb != "ready") return;
  if (std::FILE* file = std::fopen(word, "w")) std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  pid_t child = -1;
  for (int i = 1; i < argc; ++i) {
    const std::string verb = argv[i];
    const char* word = i + 1 < argc ? argv[i + 1] : "";
    if (takes_word(verb)) ++i;
    if (verb == "fork") {
      child = ::fork();
      if (child == 0) continue;
      while (i + 1 < argc && std::strcmp(argv[i + 1], "join") != 0) ++i;
    } else if (verb == "join") {
      if (child == 0) return 0;
      int status = 0;
      ::waitpid(child, &status, 0);
    } else if (verb == "exec") {
      argv[i] = argv[0];
      ::execv("/proc/self/exe", argv + i);
      return 10;
    } else if (verb == "_exit") {
      ::_exit(std::atoi(word));
    } else if (verb == "exit") {
      return std::atoi(word);
    } else {
      work(verb, word, std::atol(word));
    }
  }
  return 0;
}
