#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dynamic_library.h"
#include "base/files.h"
#include "base/child_process.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/recording.h"
#include "cli/verbs.h"
#include "cli/version.h"

namespace assay {
namespace {

struct LibraryLicence {
  std::string_view library;  // prefix of the library's file names
  std::string_view terms;
};
constexpr LibraryLicence kLicences[] = {
    {"libfmt", "MIT"},
    {"libsimdjson", "Apache-2.0"},
    {"libcsv", "LGPL-2.1-or-later"},
    {"libsqlite3", "public domain"},
    {"libisal", "BSD-3-Clause"},
    {"libzstd", "BSD-3-Clause"},
    {"libstdc++", "GPL-3.0 with the runtime exception"},
    {"libgcc_s", "GPL-3.0 with the runtime exception"},
    {"libgomp", "GPL-3.0 with the runtime exception"},
    {"libc.", "LGPL-2.1-or-later"},
    {"libm.", "LGPL-2.1-or-later"},
    {"ld-linux", "LGPL-2.1-or-later"},
    {"libxlsxwriter", "BSD-2-Clause"},
    {"libmuparser", "BSD-2-Clause"},
    {"libopenblas", "BSD-3-Clause"},
    {"libxgboost", "Apache-2.0"},
    {"libduckdb", "MIT"},
    {"libassay", "Apache-2.0"},
};

// A library that a verb loads at run time. `without`: what is unavailable if it is missing.
struct OnDemand {
  std::vector<std::string> names;
  std::string_view what;
  std::string_view without;
};

std::vector<OnDemand> on_demand() {
  return {
      {libraries_beside_program("libduckdb.so"), "DuckDB",
       "no assay sql, and no Parquet: tools/install_deps.sh query"},
      {{"libxlsxwriter.so.4", "libxlsxwriter.so.5", "libxlsxwriter.so"},
       "libxlsxwriter",
       "no Excel workbooks"},
      {{"libmuparser.so.2", "libmuparser.so"}, "muParser", "no --counters in assay breakdown"},
      {{"libopenblas.so.0", "libopenblas.so"},
       "OpenBLAS",
       "assay throughput takes several times longer"},
      {libraries_beside_program("libassay_search.so"), "Ceres (libassay_search.so)",
       "assay throughput searches no parameters (--refit)"},
      {{"libxgboost.so.0", "libxgboost.so"}, "XGBoost", "no --method ala in assay throughput"},
      {{"libcuda.so.1"},
       "NVIDIA driver",
       "assay record, null-kernel and power run find no NVIDIA GPU"},
      {{"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so"},
       "AMD ROCm",
       "null-kernel and power run find no AMD GPU"},
      {{"librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0", "librocprofiler-sdk.so"},
       "AMD rocprofiler-sdk",
       "assay record finds no AMD GPU"},
  };
}

std::string_view licence_of(const std::string& path) {
  const std::string name = file_name(path);
  for (const LibraryLicence& licence : kLicences) {
    if (name.starts_with(licence.library)) return licence.terms;
  }
  return "see its package";
}

// File names contain versions: libfmt.so.9 links to libfmt.so.9.1.0.
std::string version_of(const std::string& path) {
  auto target = link_target(path);
  const std::string name = file_name(target ? *target : path);
  const size_t number = name.find(".so.");
  return number == std::string::npos ? "" : name.substr(number + 4);
}

int note_library(dl_phdr_info* info, size_t, void* found) {
  if (info->dlpi_name != nullptr && *info->dlpi_name == '/') {
    static_cast<std::vector<std::string>*>(found)->emplace_back(info->dlpi_name);
  }
  return 0;
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  ::dl_iterate_phdr(note_library, &paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

void print_library(std::string_view what, const std::string& path) {
  fmt::print("  {:<28} {:<10} {:<34} {}\n", what, version_of(path), licence_of(path), path);
}

// Path of the first of these libraries that can be loaded; empty if none can. OpenBLAS ends or
// hangs a process that lacks threads or memory, so they are loaded in a copy of this process.
Result<std::string> path_of_first(const std::vector<std::string>& names) {
  constexpr unsigned kPatienceS = 5;
  return ask_copy(
      [&names] {
        ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
        const auto library = DynamicLibrary::open(names, "");
        return library ? library->path() : std::string();
      },
      kPatienceS);
}

void print_on_demand() {
  fmt::print("\nLibraries opened when a verb needs them\n");
  for (const OnDemand& wanted : on_demand()) {
    const auto path = path_of_first(wanted.names);
    if (!path) {
      fmt::print("  {:<28} cannot be opened now, for lack of memory or processes, so: {}\n",
                 wanted.what, wanted.without);
    } else if (path->empty()) {
      fmt::print("  {:<28} missing: {}\n", wanted.what, wanted.without);
    } else {
      print_library(wanted.what, *path);
    }
  }
}

struct ShippedPart {
  const char* file;
  const char* variable;
  const char* without;
};

void print_parts() {
  fmt::print("\nOther parts of Assay\n");
  for (const ShippedPart& part :
       {ShippedPart{"libassay_record.so", "ASSAY_RECORD_LIBRARY", "no assay record"},
        ShippedPart{"assay_null_kernel", "ASSAY_NULL_KERNEL", "no assay null-kernel"},
        ShippedPart{
            "assay-replay", "ASSAY_REPLAY",
            "no assay replay: it is compiled against your PyTorch, see assay replay --help"}}) {
    const auto found = find_collector(part.file, part.variable);
    if (found) {
      fmt::print("  {:<28} {}\n", part.file, *found);
    } else {
      fmt::print("  {:<28} missing: {}\n", part.file, part.without);
    }
  }
}

void print_cache() {
  fmt::print("\nCache\n");
  const auto folder = user_cache_folder("assay");
  if (!folder) {
    fmt::print("  none: {}\n", folder.error().describe());
    return;
  }
  constexpr int kDeep = 6;
  uint64_t bytes = 0;
  const std::vector<std::string> files = files_below(*folder, kDeep);
  for (const std::string& file : files) {
    const auto facts = file_facts(file);
    if (facts) bytes += facts->bytes;
  }
  fmt::print("  {}: {} files, {:.1f} MB (assay cache --prune)\n", *folder, files.size(),
             static_cast<double>(bytes) / 1e6);
}

void print_all() {
  // List libraries before loading others: these are what every verb loads.
  const std::vector<std::string> loaded = loaded_libraries();
  fmt::print("assay {}\n  {:<28} {}\n", kVersion, "program", program_path());
  fmt::print("\nLibraries that every verb starts with\n");
  for (const std::string& path : loaded) {
    const std::string name = file_name(path);
    print_library(name.substr(0, name.find(".so")), path);
  }
  print_on_demand();
  print_parts();
  print_cache();
}

}  // namespace

void add_doctor_verb(Verb& app, int&) {
  Verb& sub = app.verb("doctor",
                       "Which libraries and parts are here, their versions and licences, what is "
                       "missing for which verb, and where the cache is");
  sub.example("assay doctor");
  sub.run(print_all);
}

}  // namespace assay
