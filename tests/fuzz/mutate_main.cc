// Every parser on its seeds and on changed copies of them: what `make test` runs where no libFuzzer
// is. A crash, a hang or too much memory ends the program, and the last line names the parser, the
// seed and the number of the input: these three make it again, and --write FILE keeps it.
//   --formats DIR --corpus DIR   where the seeds are (seeds.h)
//   --target NAME                that parser alone
//   --list                       names of the parsers, and nothing else
//   --write-seeds DIR            writes the seeds of --target there and ends
//   --parsers N                  fails unless there are N of them
//   --inputs N                   so many inputs a parser, those of seed 1 unless --seed says others
//   --seconds S                  instead: new inputs for S seconds of CPU time a parser
//   --seed S, --input N          the random seed; the one input alone
// ASSAY_FUZZ_SECONDS and ASSAY_FUZZ_SEED take the place of --seconds and --seed where --seconds is
// given.

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "changes.h"
#include "parsers.h"
#include "seeds.h"

namespace {

using assay::fuzz::ParserTarget;
using assay::fuzz::Random;

// One input: seconds of CPU time, and seconds on the clock for one that waits for nothing.
constexpr int kHangCpuS = 10;
constexpr unsigned kHangS = 120;
// Of addresses. Readers stop far below (tests/faults); a sanitizer needs them for its own.
constexpr rlim_t kMostMemory = rlim_t{4} << 30;

char now_running[160] = {};
const assay::fuzz::InputFile* input_file = nullptr;

void tell_and_end(int number) {
  [[maybe_unused]] const ssize_t written = ::write(2, now_running, std::strlen(now_running));
  if (input_file != nullptr) input_file->remove();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

// From here on the time of one input counts.
void start_clocks() {
  const itimerval cpu = {{0, 0}, {kHangCpuS, 0}};
  ::setitimer(ITIMER_PROF, &cpu, nullptr);
  ::alarm(kHangS);
}

double cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

uint64_t seed_of_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Random(static_cast<uint64_t>(now.count()) ^ static_cast<uint64_t>(::getpid())).next() >>
         32;
}

struct Asked {
  std::string formats;
  std::string corpus;
  std::string target;
  size_t parsers = 0;  // 0: any number
  uint64_t inputs = 500;
  double seconds = 0;  // 0: `inputs` count
  uint64_t seed = 1;
  bool seed_given = false;
  int64_t only = -1;
  std::string write;
  std::string write_seeds;
};

// The seeds of a parser, and which of them it reads without an error: those lead deeper.
struct Seeds {
  std::vector<std::string> all;
  std::vector<size_t> read;
};

std::string input_of(const Seeds& seeds, uint64_t seed, uint64_t number) {
  if (number < seeds.all.size()) return seeds.all[number];
  Random random(Random(seed).next() ^ (number * 0x2545F4914F6CDD1Du));
  const bool deep = !seeds.read.empty() && random.below(4) > 0;
  const size_t from =
      deep ? seeds.read[random.below(seeds.read.size())] : random.below(seeds.all.size());
  const std::string& other = seeds.all[random.below(seeds.all.size())];
  return assay::fuzz::changed_copy(seeds.all[from], other, random);
}

void parse_one(const ParserTarget& target, uint64_t seed, uint64_t number, const std::string& bytes,
               assay::fuzz::InputFile& file) {
  std::snprintf(now_running, sizeof(now_running), "fuzz: --target %s --seed %llu --input %llu\n",
                target.name, static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(number));
  start_clocks();
  if (file.put(bytes)) target.parse(bytes, file.path());
}

Seeds parsed_seeds(const ParserTarget& target, const Asked& asked, assay::fuzz::InputFile& file) {
  Seeds seeds{assay::fuzz::seeds_of(target, asked.formats, asked.corpus), {}};
  for (size_t i = 0; i < seeds.all.size(); ++i) {
    const uint64_t before = assay::fuzz::inputs_read();
    parse_one(target, asked.seed, i, seeds.all[i], file);
    if (assay::fuzz::inputs_read() > before) seeds.read.push_back(i);
  }
  return seeds;
}

// How many inputs there were.
uint64_t run(const ParserTarget& target, const Asked& asked, assay::fuzz::InputFile& file) {
  const double end_s = cpu_s() + asked.seconds;
  const Seeds seeds = parsed_seeds(target, asked, file);
  if (asked.only >= 0) {
    const auto number = static_cast<uint64_t>(asked.only);
    const std::string bytes = input_of(seeds, asked.seed, number);
    if (!asked.write.empty()) std::ofstream(asked.write, std::ios::binary) << bytes;
    parse_one(target, asked.seed, number, bytes, file);
    return 1;
  }
  uint64_t number = seeds.all.size();
  const auto goes_on = [&] { return asked.seconds > 0 ? cpu_s() < end_s : number < asked.inputs; };
  for (; goes_on(); ++number) {
    parse_one(target, asked.seed, number, input_of(seeds, asked.seed, number), file);
  }
  return number;
}

int write_seeds(const Asked& asked) {
  const ParserTarget* target = assay::fuzz::find_target(asked.target);
  if (target == nullptr) return 2;
  size_t number = 0;
  for (const std::string& seed : assay::fuzz::seeds_of(*target, asked.formats, asked.corpus)) {
    std::ofstream(asked.write_seeds + "/seed_" + std::to_string(number++), std::ios::binary)
        << seed;
  }
  return 0;
}

Asked parse(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--formats") asked.formats = value;
    if (name == "--corpus") asked.corpus = value;
    if (name == "--target") asked.target = value;
    if (name == "--parsers") asked.parsers = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--inputs") asked.inputs = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--seconds") asked.seconds = std::strtod(value.c_str(), nullptr);
    if (name == "--input") asked.only = std::strtoll(value.c_str(), nullptr, 10);
    if (name == "--write") asked.write = value;
    if (name == "--write-seeds") asked.write_seeds = value;
    if (name == "--seed") asked.seed = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--seed") asked.seed_given = true;
  }
  if (asked.seconds <= 0) return asked;
  if (const char* given = std::getenv("ASSAY_FUZZ_SECONDS")) {
    asked.seconds = std::max(0.001, std::strtod(given, nullptr));
  }
  if (const char* given = std::getenv("ASSAY_FUZZ_SEED")) {
    asked.seed = std::strtoull(given, nullptr, 10);
  } else if (!asked.seed_given) {
    asked.seed = seed_of_now();
  }
  return asked;
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit = {kMostMemory, kMostMemory};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const ParserTarget& target : assay::fuzz::parser_targets()) std::puts(target.name);
    return 0;
  }
  const Asked asked = parse(argc, argv);
  if (!asked.write_seeds.empty()) return write_seeds(asked);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGPROF}) {
    ::signal(number, tell_and_end);
  }
  limit_memory();
  assay::fuzz::InputFile file;
  input_file = &file;
  uint64_t total = 0;
  size_t parsers = 0;
  for (const ParserTarget& target : assay::fuzz::parser_targets()) {
    if (!asked.target.empty() && asked.target != target.name) continue;
    total += run(target, asked, file);
    ++parsers;
  }
  std::printf("fuzz: %llu inputs of seed %llu through %zu parsers, %llu of them no error\n",
              static_cast<unsigned long long>(total), static_cast<unsigned long long>(asked.seed),
              parsers, static_cast<unsigned long long>(assay::fuzz::inputs_read()));
  if (asked.parsers > 0 && parsers != asked.parsers) {
    std::fprintf(stderr, "fuzz: %zu parsers, and ctest has an entry for %zu\n", parsers,
                 asked.parsers);
    return 2;
  }
  return parsers == 0 ? 2 : 0;
}
