#include "cli/output_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "base/files.h"
#include "base/real_path.h"
#include "ingest/formats.h"
#include "text/plain_text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 5> kWritten = {"--output", "--junit", "--perfetto",
                                                      "--save-prediction", "--export-kernel-db"};
constexpr std::array<int, 3> kNoFile = {ENOENT, ENOTDIR, ENAMETOOLONG};
constexpr std::array<std::string_view, 2> kMade = {"--cache", "--record"};
constexpr std::array<std::string_view, 2> kRunsACommand = {"record", "sample"};

struct FileNames {
  std::vector<std::string> written;
  std::vector<std::string> read;
};

bool is_written(const GivenOption& option) {
  return std::any_of(option.names.begin(), option.names.end(), [](const std::string& name) {
    return std::find(kWritten.begin(), kWritten.end(), name) != kWritten.end();
  });
}

// True for folders with content that can be regenerated; they are not inputs.
bool is_cache(const GivenOption& option) {
  return std::any_of(option.names.begin(), option.names.end(), [](const std::string& name) {
    return std::find(kMade.begin(), kMade.end(), name) != kMade.end();
  });
}

void collect(const GivenOption& option, FileNames& names) {
  if (std::find(kRunsACommand.begin(), kRunsACommand.end(), option.verb) != kRunsACommand.end()) {
    return;
  }
  for (const std::string& value : option.values) {
    if (is_written(option)) {
      names.written.push_back(value);
      continue;
    }
    names.read.push_back(value);
    const size_t equals = value.find('=');
    if (equals != std::string::npos) names.read.push_back(value.substr(equals + 1));
  }
}

// True if a file of an input folder is read: it has a reader and is not Assay's own output.
bool is_read_in_folders(const std::string& path) {
  const FileFormat* format = format_of_file(path);
  if (format == nullptr) return false;
  return format->family != FileFamily::kResult && format->family != FileFamily::kForeign &&
         format->family != FileFamily::kModel;
}

bool lies_below(const std::string& path, const std::string& folder) {
  for (std::string at = folder_of(absolute_path(path));; at = folder_of(at)) {
    if (is_same_file(at, folder)) return true;
    if (at == folder_of(at)) return false;
  }
}

// True if `read`, as typed, refers to the file `written`: by name, as a member of a folder or
// pattern, or as redirected standard input.
bool leads_to(const std::string& read, const std::string& written) {
  if (read == "-") return is_file_of(STDIN_FILENO, written);
  if (is_folder(read)) return lies_below(written, read) && is_read_in_folders(written);
  if (file_exists(read)) return is_same_file(read, written);
  if (read.find_first_of("*?[") == std::string::npos) return false;
  const std::vector<std::string> matches = matching_files(read);
  return std::any_of(matches.begin(), matches.end(), [&written](const std::string& match) {
    return is_same_file(match, written) ||
           (is_folder(match) && lies_below(written, match) && is_read_in_folders(written));
  });
}

Error refused(const std::string& path, const char* why) {
  return {ErrorCode::kInvalidArgument, why, clean_text(path), -1};
}

// Fails if two outputs have the same path or are the same file.
Status check_apart(const std::vector<std::string>& written) {
  for (size_t i = 0; i < written.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (is_special_file(written[i]) || written[i] == "-") continue;
      if (absolute_path(written[i]) == absolute_path(written[j]) ||
          is_same_file(written[i], written[j])) {
        return refused(written[i], "two outputs name this file: each would overwrite the other");
      }
    }
  }
  return Ok{};
}

// The file that standard output appends to (`>>`); empty if there is none. An empty file, as `>`
// creates it, has no content to protect.
std::string appended_to() {
  const auto facts = file_facts(STDOUT_FILENO);
  if (!facts || facts->kind != FileKind::kFile || facts->bytes == 0) return "";
  auto path = real_path("/dev/stdout");
  return path ? *path : "";
}

}  // namespace

Status refuse_outputs_over_inputs(const std::vector<GivenOption>& given) {
  FileNames names;
  for (const GivenOption& option : given) collect(option, names);
  if (const std::string path = appended_to(); !path.empty()) names.written.push_back(path);
  ASSAY_TRY(check_apart(names.written));
  for (const std::string& written : names.written) {
    if (!is_regular_file(written)) continue;
    for (const std::string& read : names.read) {
      if (leads_to(read, written)) {
        return refused(written, "is an input: it would be overwritten");
      }
    }
  }
  return Ok{};
}

bool tells_checksum(const Input& input) {
  return std::any_of(input.items.begin(), input.items.end(),
                     [](const Item& item) { return item.key == "checksum"; });
}

namespace {

// Compares the name first, which also works if the file cannot be inspected.
bool is_of(const Input& input, const std::string& path) {
  return input.name == path || is_same_file(input.name, path);
}

bool is_told(const std::string& path, const std::vector<Input>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [&path](const Input& input) {
    return tells_checksum(input) && is_of(input, path);
  });
}

// True for a value that is not a path, such as a number or a statement.
bool names_nothing(const Error& error) {
  return std::any_of(kNoFile.begin(), kNoFile.end(), [&error](int code) {
    return error.message.find(std::strerror(code)) != std::string::npos;
  });
}

void say_untold(const std::string& path, const Error& error) {
  fmt::print(stderr, "assay: {}: its checksum is unknown: {}\n", clean_text(path),
             clean_text(error.message));
}

// The files of a value: the file itself, or the files of a folder unless one of them is an input.
std::vector<std::string> files_behind(const std::string& value, const std::vector<Input>& inputs) {
  const auto facts = file_facts(value);
  if (!facts && !names_nothing(facts.error())) say_untold(value, facts.error());
  if (!facts || facts->kind == FileKind::kSpecial) return {};
  if (facts->kind == FileKind::kFile) return {value};
  const auto files = files_in(value);
  if (!files) say_untold(value, files.error());
  const bool gave = files && std::any_of(files->begin(), files->end(),
                                         [&](const auto& path) { return is_told(path, inputs); });
  return files && !gave ? *files : std::vector<std::string>();
}

Result<std::vector<Item>> size_and_checksum(const std::string& path) {
  ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(path));
  ASSAY_TRY_ASSIGN(const uint64_t sum, file_checksum(path));
  return std::vector<Item>{
      {.key = "stored_bytes", .label = "size", .value = facts.bytes, .unit = Unit::kBytes},
      {.key = "checksum", .label = "checksum", .value = checksum_text(sum)}};
}

void add_file(const std::string& path, const std::string& option, DocumentInputs& read) {
  if (is_told(path, read.inputs) || is_told(path, read.files)) return;
  auto items = size_and_checksum(path);
  if (!items) return say_untold(path, items.error());
  for (Input& input : read.inputs) {
    if (!is_of(input, path)) continue;
    input.items.insert(input.items.end(), items->begin(), items->end());
    return;
  }
  items->insert(items->begin(), {.key = "option", .label = "named by", .value = option});
  read.files.push_back({path, *std::move(items)});
}

}  // namespace

void tell_files(const std::vector<GivenOption>& given, DocumentInputs& read) {
  for (const GivenOption& option : given) {
    FileNames names;
    if (!is_written(option) && !is_cache(option)) collect(option, names);
    for (const std::string& value : names.read) {
      for (const std::string& path : files_behind(value, read.inputs)) {
        add_file(path, option.names.back(), read);
      }
    }
  }
}

}  // namespace assay
