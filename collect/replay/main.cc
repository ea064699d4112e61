// assay-replay: runs the operators of a kernel database one at a time, each repeatedly with the
// device synchronized after every call, under a tracer. Started by `assay replay`.
//
//   assay-replay JOB RESULTS          run, and append one line of JSON per entry
//   assay-replay --check JOB RESULTS  rebuild every call with shapes only, and run none
//   assay-replay --about              one line of JSON: PyTorch, device, driver
//
// Before each entry it writes a line {"begin": number}: after a crash the last such line names the
// entry. Exit codes: 0 all tried, 2 wrong usage or job, 3 results cannot be written, 4 the device
// is in an error state: start a new process for the rest.

#include <ATen/core/grad_mode.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collect/replay/arguments.h"
#include "collect/replay/device.h"
#include "collect/replay/job.h"
#include "collect/replay/labels.h"

namespace assay::replay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWrongUse = 2;
constexpr int kCannotWrite = 3;
constexpr int kDeviceLost = 4;
// Inputs that need more come from a larger device or are corrupt.
constexpr int64_t kMostBytesHost = int64_t{8} << 30;
constexpr int64_t kMostBytesDevice = int64_t{96} << 30;

std::string quoted(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      // Escapes non-ASCII bytes, so that any JSON reader accepts the line.
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      json += escaped;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string first_line(const std::string& text) {
  return text.substr(0, std::min(text.find('\n'), size_t{300}));
}

struct Outcome {
  std::string status = "ok";
  std::string reason;
  std::string call;
  std::vector<std::string> assumed;
  std::vector<int64_t> host_ns;  // of each measured call
  bool device_lost = false;
};

std::string json_of(int64_t number, const Outcome& outcome) {
  std::string json = "{\"entry\": " + std::to_string(number) +
                     ", \"status\": " + quoted(outcome.status) +
                     ", \"reason\": " + quoted(outcome.reason) +
                     ", \"call\": " + quoted(outcome.call) + ", \"assumed\": [";
  for (size_t i = 0; i < outcome.assumed.size(); ++i)
    json += (i > 0 ? ", " : "") + quoted(outcome.assumed[i]);
  json += "], \"host_ns\": [";
  for (size_t i = 0; i < outcome.host_ns.size(); ++i) {
    json += (i > 0 ? ", " : "") + std::to_string(outcome.host_ns[i]);
  }
  return json + "]}";
}

class Replayer {
 public:
  Replayer(const Job& job, bool check_only)
      : job_(job),
        device_(check_only ? "meta" : job.device),
        check_only_(check_only),
        cuda_(device_.compare(0, 4, "cuda") == 0) {}

  Outcome replay(const JobEntry& entry) const {
    Outcome outcome;
    try {
      const bool host = !cuda_ && !check_only_;
      Call call = rebuild(entry, device_, host ? kMostBytesHost : kMostBytesDevice);
      outcome.call = call.describe();
      outcome.assumed = call.assumed();
      if (!check_only_) measure(entry, call, outcome);
    } catch (const OperatorMissing& error) {
      outcome.status = "op_missing";
      outcome.reason = error.what();
    } catch (const CannotRebuild& error) {
      outcome.status = "failed";
      outcome.reason = error.what();
    } catch (const std::exception& error) {
      outcome.status = "failed";
      outcome.reason = "it raised an error: " + first_line(error.what());
      outcome.device_lost = !device_answers();
    }
    if (outcome.status != "ok") outcome.host_ns.clear();
    return outcome;
  }

 private:
  void measure(const JobEntry& entry, Call& call, Outcome& outcome) const {
    const auto deadline = Clock::now() + std::chrono::duration<double>(job_.entry_seconds);
    synchronize();
    for (int64_t i = 0; i < job_.warmups; ++i) {
      call.prepare();
      call.run();
      synchronize();
      call.finish();
      if (Clock::now() > deadline) break;
    }
    for (int64_t i = 0; i < job_.runs; ++i) {
      call.prepare();
      const std::string label =
          "aten_dispatch|" + std::to_string(entry.number) + "|" + std::to_string(i);
      push_label(label.c_str());
      const auto begin = Clock::now();
      call.run();
      const auto end = Clock::now();
      pop_label();
      synchronize();
      call.finish();
      outcome.host_ns.push_back(
          std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
      if (Clock::now() > deadline) break;
    }
  }

  void synchronize() const {
    if (cuda_) torch::cuda::synchronize();
  }

  bool device_answers() const {
    try {
      synchronize();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  const Job& job_;
  const std::string device_;
  const bool check_only_;
  const bool cuda_;
};

std::string about() {
  const bool cuda = torch::cuda::is_available();
  const DeviceFacts facts = cuda ? device_facts() : DeviceFacts{};
  return std::string("{\"torch\": ") + quoted(TORCH_VERSION) +
         ", \"device\": " + quoted(cuda ? "cuda" : "cpu") + ", \"gpu\": " + quoted(facts.name) +
         ", \"uuid\": " + quoted(facts.uuid) + ", \"driver\": " + quoted(facts.driver) +
         ", \"labels\": " + (labels_possible() ? "true" : "false") + "}";
}

// Loads shared objects that register operators, one path per line (`assay replay --library`).
void load_libraries() {
  const char* paths = std::getenv("ASSAY_REPLAY_LIBRARIES");
  std::istringstream lines(paths != nullptr ? paths : "");
  for (std::string path; std::getline(lines, path);) {
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    const char* reason = dlerror();
    throw std::runtime_error("--library " + path + ": " + (reason != nullptr ? reason : "?"));
  }
}

int run(const std::string& job_path, const std::string& results_path, bool check_only) {
  const Job job = read_job(job_path);
  load_libraries();
  std::FILE* results = std::fopen(results_path.c_str(), "ab");
  if (results == nullptr) {
    std::perror(results_path.c_str());
    return kCannotWrite;
  }
  const auto write = [results](const std::string& line) {
    return std::fprintf(results, "%s\n", line.c_str()) > 0 && std::fflush(results) == 0;
  };
  const at::NoGradGuard no_grad;
  const Replayer replayer(job, check_only);
  for (const JobEntry& entry : job.entries) {
    bool written = write("{\"begin\": " + std::to_string(entry.number) + "}");
    const Outcome outcome = written ? replayer.replay(entry) : Outcome{};
    written = written && write(json_of(entry.number, outcome));
    if (!written) {
      std::perror(results_path.c_str());
      return kCannotWrite;
    }
    if (outcome.device_lost) return kDeviceLost;
  }
  return std::fclose(results) == 0 ? 0 : kCannotWrite;
}

}  // namespace
}  // namespace assay::replay

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 1 && words[0] == "--about") {
      std::cout << assay::replay::about() << std::endl;
      return 0;
    }
    if (words.size() == 2) return assay::replay::run(words[0], words[1], false);
    if (words.size() == 3 && words[0] == "--check")
      return assay::replay::run(words[1], words[2], true);
  } catch (const std::exception& error) {
    std::cerr << "assay-replay: " << error.what() << '\n';
    return assay::replay::kWrongUse;
  }
  std::cerr << "usage: assay-replay [--check] JOB RESULTS | --about (started by `assay replay`)\n";
  return assay::replay::kWrongUse;
}
