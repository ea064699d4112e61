// Every parser on its seeds and on changed copies of them, the same ones each time: what `make
// test` runs where no libFuzzer is. A crash or a hang ends the program, and the last line names the
// parser and the number of the input: --target NAME --input N makes it again, and --write FILE
// keeps it.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "parsers.h"

namespace {

using assay::fuzz::ParserTarget;

constexpr unsigned kHangS = 10;
constexpr size_t kLargestSeed = 64 << 10;

char now_running[128] = {};

void tell_and_end(int number) {
  [[maybe_unused]] const ssize_t written = ::write(2, now_running, std::strlen(now_running));
  ::signal(number, SIG_DFL);
  ::raise(number);
}

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t end) { return end == 0 ? 0 : next() % end; }

 private:
  uint64_t state_;
};

// What readers trip over: ends of numbers, brackets, bytes that are no text.
const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"-1",
                                               "0",
                                               "1e308",
                                               "-9223372036854775808",
                                               "9223372036854775807",
                                               "18446744073709551616",
                                               "1.5",
                                               "NaN",
                                               "Infinity",
                                               "null",
                                               "true",
                                               "\"\"",
                                               "[]",
                                               "{}",
                                               "[[[[[[[[",
                                               "}}}}",
                                               "\n",
                                               "\r\n",
                                               ",",
                                               ";",
                                               "\t",
                                               "\"",
                                               "\\u0000",
                                               "\\",
                                               "\xff\xfe",
                                               "\xef\xbb\xbf",
                                               std::string(4, '\0'),
                                               std::string(8, '\xff'),
                                               "1,234.5",
                                               "%",
                                               "<",
                                               ">",
                                               "::",
                                               "(",
                                               ")"};
  return all;
}

void change(std::string& bytes, const std::string& other, Random& random) {
  const size_t at = random.below(bytes.size() + 1);
  const size_t length = random.below(std::min<size_t>(bytes.size() - at, 64) + 1);
  switch (random.below(8)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      return;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(random.next());
      return;
    case 2:
      bytes.erase(at, length);
      return;
    case 3:
      bytes.insert(at, bytes.substr(at, length));
      return;
    case 4:
      bytes.insert(at, words()[random.below(words().size())]);
      return;
    case 5:
      bytes.replace(at, length, words()[random.below(words().size())]);
      return;
    case 6:
      bytes.resize(at);
      return;
    default:
      bytes.insert(at, other.substr(random.below(other.size() + 1), 1 + random.below(200)));
      return;
  }
}

std::string input_of(const std::vector<std::string>& seeds, uint64_t number) {
  if (number < seeds.size()) return seeds[number];
  Random random(number * 0x2545F4914F6CDD1Du + 1);
  std::string bytes = seeds[random.below(seeds.size())];
  const std::string& other = seeds[random.below(seeds.size())];
  for (size_t changes = 1 + random.below(6); changes > 0; --changes) change(bytes, other, random);
  return bytes;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Seeds of the target: samples of its formats, and what was once found by fuzzing it.
std::vector<std::string> seeds_of(const ParserTarget& target, const std::filesystem::path& formats,
                                  const std::filesystem::path& corpus) {
  std::vector<std::filesystem::path> files;
  std::istringstream prefixes(target.seeds);
  for (std::string prefix; prefixes >> prefix;) {
    for (const auto& entry : std::filesystem::directory_iterator(formats)) {
      if (entry.path().filename().string().starts_with(prefix)) files.push_back(entry.path());
    }
  }
  const bool kineto = std::strcmp(target.name, "chrome") == 0;
  const auto found = corpus / (kineto ? "kineto" : target.name);
  if (std::filesystem::is_directory(found)) {
    for (const auto& entry : std::filesystem::directory_iterator(found)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::string text = text_of(file);
    if (text.size() <= kLargestSeed) seeds.push_back(std::move(text));
  }
  if (seeds.empty()) seeds.emplace_back("a");
  return seeds;
}

struct Asked {
  std::filesystem::path formats;
  std::filesystem::path corpus;
  std::string target;
  uint64_t inputs = 2000;
  int64_t only = -1;
  std::string write;
};

uint64_t run(const ParserTarget& target, const Asked& asked, assay::fuzz::MemoryFile& file) {
  const std::vector<std::string> seeds = seeds_of(target, asked.formats, asked.corpus);
  const uint64_t first = asked.only >= 0 ? static_cast<uint64_t>(asked.only) : 0;
  const uint64_t end = asked.only >= 0 ? first + 1 : std::max<uint64_t>(asked.inputs, seeds.size());
  for (uint64_t number = first; number < end; ++number) {
    const std::string bytes = input_of(seeds, number);
    if (!asked.write.empty()) std::ofstream(asked.write, std::ios::binary) << bytes;
    std::snprintf(now_running, sizeof(now_running), "fuzz: --target %s --input %llu\n", target.name,
                  static_cast<unsigned long long>(number));
    ::alarm(kHangS);
    if (file.put(bytes)) target.parse(bytes, file.path());
  }
  ::alarm(0);
  return end - first;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--formats") asked.formats = value;
    if (name == "--corpus") asked.corpus = value;
    if (name == "--target") asked.target = value;
    if (name == "--inputs") asked.inputs = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--input") asked.only = std::strtoll(value.c_str(), nullptr, 10);
    if (name == "--write") asked.write = value;
  }
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    ::signal(number, tell_and_end);
  }
  assay::fuzz::MemoryFile file;
  uint64_t total = 0;
  size_t parsers = 0;
  for (const ParserTarget& target : assay::fuzz::parser_targets()) {
    if (!asked.target.empty() && asked.target != target.name) continue;
    total += run(target, asked, file);
    ++parsers;
  }
  std::printf("fuzz: %llu inputs through %zu parsers\n", static_cast<unsigned long long>(total),
              parsers);
  return parsers == 0 ? 2 : 0;
}
