#include "seeds.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "changes.h"
#include "ingest/columnar/file.h"
#include "ingest/load.h"
#include "ingest/text/whole_file.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestSeed = 64 << 10;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> files_below(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) files.push_back(entry.path());
  }
  return files;
}

void add_seed(const fs::path& file, std::vector<std::string>& seeds) {
  std::string bytes = text_of(file);
  if (file.extension() == ".sql") bytes = database_of_sql(bytes);
  if (!bytes.empty() && bytes.size() <= kLargestSeed) seeds.push_back(std::move(bytes));
}

// Real traces, unpacked: of more events than those made by hand.
void add_unpacked_seeds(const fs::path& traces, std::vector<std::string>& seeds) {
  if (!fs::is_directory(traces)) return;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(traces)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    auto text = read_head(file.string(), kLargestSeed + 1);
    if (text && text->size() <= kLargestSeed) seeds.push_back(*std::move(text));
  }
}

void add_columnar_seeds(const fs::path& traces, std::vector<std::string>& seeds) {
  const fs::path made = fs::temp_directory_path() / ("assay_fuzz_" + std::to_string(::getpid()));
  std::vector<fs::path> files = files_below(traces, "");
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const auto trace = load_trace(file.string(), {});
    if (trace && write_columnar(*trace, {}, made.string())) add_seed(made, seeds);
  }
  fs::remove(made);
}

}  // namespace

std::vector<std::string> seeds_of(const ParserTarget& target, const std::string& formats,
                                  const std::string& corpus) {
  std::vector<fs::path> files = files_below(fs::path(corpus) / target.name, "");
  std::istringstream prefixes(target.seeds);
  for (std::string prefix; prefixes >> prefix;) {
    const auto more = files_below(formats, prefix);
    files.insert(files.end(), more.begin(), more.end());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& file : files) add_seed(file, seeds);
  const std::string_view name = target.name;
  if (name == "assay" || name == "rooms") add_columnar_seeds(fs::path(corpus) / "chrome", seeds);
  if (name == "rooms") add_unpacked_seeds(fs::path(formats).parent_path() / "kineto", seeds);
  if (seeds.empty()) seeds.emplace_back("a");
  return seeds;
}

}  // namespace assay::fuzz
