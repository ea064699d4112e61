// Prints the tables of docs/measured/diff.md: how often a change is told where there is none and
// where there is one. Usage: assay_noise_table SEEDS [SERIES], the second a file with a row per
// series of a public trace: times in order, separated by spaces (tools/measure_diff.py).

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/noise_scenes.h"

namespace assay::noise_scenes {
namespace {

constexpr size_t kSizes[] = {3, 4, 5, 8, 16, 30, 100, 300, 1000};
constexpr size_t kRepeats[] = {2, 3, 5, 8, 12};

void print_cell(double rate) { std::printf(" %.1f |", 100 * rate); }

void print_sizes(const char* first) {
  std::printf("| %s |", first);
  for (const size_t n : kSizes) std::printf(" %zu |", n);
  std::printf("\n|---|");
  for (size_t i = 0; i < std::size(kSizes); ++i) std::printf("---:|");
  std::printf("\n");
}

void print_same(int seeds) {
  print_sizes("iterations a side");
  for (const auto& [scene, words] : kScenes) {
    std::printf("| %s |", std::string(words).c_str());
    for (const size_t n : kSizes) print_cell(rate_of_iterations(seeds, n, scene, 1));
    std::printf("\n");
  }
}

void print_slower(int seeds, Scene scene) {
  print_sizes("B is slower by");
  for (const double by : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
    std::printf("| %.0f %% |", 100 * by);
    for (const size_t n : kSizes) print_cell(rate_of_iterations(seeds, n, scene, 1 + by));
    std::printf("\n");
  }
}

void print_runs(int seeds) {
  std::printf(
      "| runs a side | same program, `--paired` | same program, unpaired | 2 %% faster, `--paired` "
      "| "
      "2 %% faster, unpaired | 10 %% faster, unpaired |\n|---:|---:|---:|---:|---:|---:|\n");
  for (const size_t runs : kRepeats) {
    std::printf("| %zu |", runs);
    print_cell(rate_of_runs(seeds, runs, true, 1));
    print_cell(rate_of_runs(seeds, runs, false, 1));
    print_cell(rate_of_runs(seeds, runs, true, 0.98));
    print_cell(rate_of_runs(seeds, runs, false, 0.98));
    print_cell(rate_of_runs(seeds, runs, false, 0.9));
    std::printf("\n");
  }
}

std::vector<std::vector<double>> read_series(const char* path) {
  std::vector<std::vector<double>> series;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    series.emplace_back();
    for (double value = 0; words >> value;) series.back().push_back(value);
  }
  return series;
}

using Split = std::vector<double> (*)(const std::vector<double>&, bool);
std::vector<double> half(const std::vector<double>& all, bool second) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return second ? std::vector<double>(middle, all.end()) : std::vector<double>(all.begin(), middle);
}
std::vector<double> every_other(const std::vector<double>& all, bool second) {
  std::vector<double> taken;
  for (size_t i = second ? 1 : 0; i < all.size(); i += 2) taken.push_back(all[i]);
  return taken;
}
std::vector<double> of_ten(const std::vector<double>& all, bool second) {
  const auto at = all.begin() + (second ? 10 : 0);
  return {at, at + 10};
}

void print_series(const std::vector<std::vector<double>>& series) {
  struct Row {
    const char* words;
    Split split;
  };
  std::printf(
      "| split into | series | told, nothing changed | told, B 10 %% slower "
      "|\n|---|---:|---:|---:|\n");
  for (const Row& row : {Row{"first and second half", half}, Row{"every other", every_other},
                         Row{"the first ten and the next ten", of_ten}}) {
    double same = 0;
    double slower = 0;
    for (const std::vector<double>& all : series) {
      const std::vector<double> a = row.split(all, false);
      std::vector<double> b = row.split(all, true);
      same += told(compare_times(a, b));
      for (double& value : b) value *= 1.1;
      slower += told(compare_times(a, b));
    }
    const auto count = static_cast<double>(series.size());
    std::printf("| %s | %zu |", row.words, series.size());
    print_cell(same / count);
    print_cell(slower / count);
    std::printf("\n");
  }
}

}  // namespace
}  // namespace assay::noise_scenes

int main(int argc, char** argv) {
  using namespace assay::noise_scenes;
  const int seeds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (seeds < 1) {
    std::fprintf(stderr, "usage: assay_noise_table SEEDS [SERIES]\n");
    return 2;
  }
  std::printf("## The same program\n\n");
  print_same(seeds);
  std::printf("\n## A slower one, iterations each by itself\n\n");
  print_slower(seeds, Scene::kIndependent);
  std::printf("\n## A slower one, iterations like the one before, 0.6\n\n");
  print_slower(seeds, Scene::kLike06);
  std::printf("\n## Runs\n\n");
  print_runs(seeds);
  if (argc < 3) return 0;
  std::printf("\n## Public traces\n\n");
  print_series(read_series(argv[2]));
  return 0;
}
