#include "query/sheet_zip.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "base/files.h"

namespace assay {
namespace {

// From PKWARE's APPNOTE 4.3.12 (central directory) and 4.3.16 (its end record).
constexpr size_t kEndBytes = 22;
constexpr size_t kEntryBytes = 46;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kEntryMark = 0x02014b50;

uint64_t number(const unsigned char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | at[i];
  return value;
}

bool read_at(std::FILE* file, long offset, int whence, std::vector<unsigned char>& into) {
  return std::fseek(file, offset, whence) == 0 &&
         std::fread(into.data(), 1, into.size(), file) == into.size();
}

// Uncompressed size by entry name; empty if the central directory cannot be read.
std::map<std::string, uint64_t> entry_sizes(const std::string& path) {
  std::map<std::string, uint64_t> sizes;
  auto opened = open_file(path, "rb");
  const FileHandle file = opened ? *std::move(opened) : nullptr;
  std::vector<unsigned char> end(kEndBytes);
  if (!file || !read_at(file.get(), -static_cast<long>(kEndBytes), SEEK_END, end)) return sizes;
  if (number(end.data(), 4) != kEndMark) return sizes;
  std::vector<unsigned char> directory(number(&end[12], 4));
  const uint64_t offset = number(&end[16], 4);
  if (!read_at(file.get(), static_cast<long>(offset), SEEK_SET, directory)) {
    return sizes;
  }
  for (size_t at = 0; at + kEntryBytes <= directory.size();) {
    const unsigned char* entry = &directory[at];
    if (number(entry, 4) != kEntryMark) break;
    const size_t name = number(entry + 28, 2);
    const size_t behind = number(entry + 30, 2) + number(entry + 32, 2);
    if (at + kEntryBytes + name > directory.size()) break;
    sizes[std::string(reinterpret_cast<const char*>(entry) + kEntryBytes, name)] =
        number(entry + 24, 4);
    at += kEntryBytes + name + behind;
  }
  return sizes;
}

}  // namespace

Status check_sheet_sizes(const std::string& path, const std::map<uint32_t, uint64_t>& least) {
  const auto sizes = entry_sizes(path);
  for (const auto& [sheet, bytes] : least) {
    const auto found = sizes.find("xl/worksheets/sheet" + std::to_string(sheet) + ".xml");
    if (found == sizes.end() || found->second < bytes) {
      return Error{ErrorCode::kIo, "cannot write: a sheet was cut short; is the disk full?", "",
                   -1};
    }
  }
  return Ok{};
}

}  // namespace assay
