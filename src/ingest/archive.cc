#include "ingest/archive.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "base/decimal.h"
#include "base/files.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr size_t kTarBlock = 512;
constexpr std::string_view kLocalHeader = "PK\x03\x04";
constexpr std::string_view kEmptyZip = "PK\x05\x06";

Error damaged(const std::string& what) {
  return {ErrorCode::kFormat, "the archive is damaged: " + what, "", -1};
}

Error refused(const std::string& member, const std::string& why) {
  return {ErrorCode::kUnsupported, "member \"" + member + "\" " + why, "", -1};
}

uint64_t little(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

std::string little_text(uint64_t value, size_t width) {
  std::string text;
  for (size_t i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

bool is_archive_name(const std::string& name) {
  const std::string text = lower(name);
  for (const char* ending :
       {".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".7z", ".rar"}) {
    if (text.ends_with(ending)) return true;
  }
  return false;
}

// Writes members into the folder and enforces the limits.
class Unpacker {
 public:
  Unpacker(std::string folder, uint64_t stored) : folder_(std::move(folder)), stored_(stored) {}

  Status add(const std::string& member, const ReadFn& read) {
    ASSAY_TRY(check(member));
    if (is_archive_name(member)) {
      return refused(member, "is an archive in an archive: unpack it and give it alone");
    }
    const std::string path = joined(folder_, member);
    ASSAY_TRY(make_folders(folder_of(path), 0700));
    ASSAY_TRY_ASSIGN(const FileHandle file, open_file(path, "wb"));
    std::string piece(kPiece, '\0');
    for (;;) {
      auto got = read(piece.data(), piece.size());
      if (!got) return refused(member, "cannot be unpacked: " + got.error().message);
      if (*got == 0) break;
      bytes_ += *got;
      constexpr uint64_t kFree = uint64_t{2} << 30;
      constexpr uint64_t kRatio = 200;
      if (bytes_ > kMostArchiveBytes || (bytes_ > kFree && bytes_ / kRatio > stored_)) {
        return refused(member, "makes the archive too large when unpacked: more than 64 GiB, or "
                               "200 times its size; unpack it yourself if it is meant");
      }
      if (std::fwrite(piece.data(), 1, *got, file.get()) != *got) return cannot_write(member);
    }
    if (std::fflush(file.get()) != 0) return cannot_write(member);
    return Ok{};
  }

  // Also called for members that are not unpacked.
  Status check(const std::string& member) {
    if (++members_ > kMostMembers) {
      return Error{ErrorCode::kUnsupported,
                   "more than 10,000 members: unpack it and give the folder", "", -1};
    }
    const bool absolute = member.starts_with('/') || member.find('\\') != std::string::npos ||
                          (member.size() > 1 && member[1] == ':');
    size_t depth = 0;
    bool outside = absolute || member.empty() || member.find('\0') != std::string::npos;
    for (size_t at = 0; at < member.size(); ++depth) {
      const size_t end = std::min(member.find('/', at), member.size());
      outside |= member.substr(at, end - at) == "..";
      at = end + 1;
    }
    if (outside) return refused(member, "leads out of the archive's folder: refused");
    if (depth > kMostArchiveDepth + 1) return refused(member, "lies more than 8 folders deep");
    return Ok{};
  }

 private:
  static Error cannot_write(const std::string& member) {
    return refused(member, "cannot be written to the temporary folder: is the disk full? TMPDIR "
                           "names another one");
  }

  std::string folder_;
  uint64_t stored_;
  uint64_t bytes_ = 0;
  uint64_t members_ = 0;
};

// ---- zip ----------------------------------------------------------------------------------------

Result<std::string> bytes_at(const ByteSource& source, uint64_t begin, uint64_t length) {
  if (begin > source.stored_bytes() || length > source.stored_bytes() - begin) {
    return damaged("it ends early");
  }
  std::string bytes(static_cast<size_t>(length), '\0');
  const ReadFn read = source.range(begin, begin + length);
  for (size_t filled = 0; filled < bytes.size();) {
    ASSAY_TRY_ASSIGN(const size_t got, read(bytes.data() + filled, bytes.size() - filled));
    if (got == 0) return damaged("it ends early");
    filled += got;
  }
  return bytes;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

Result<Directory> find_directory(const ByteSource& source) {
  constexpr uint64_t kEndRecord = 22;
  constexpr uint64_t kLocator = 20;
  constexpr uint64_t kLongestComment = 65535;
  const uint64_t size = source.stored_bytes();
  const uint64_t tail_bytes = std::min(size, kEndRecord + kLocator + kLongestComment);
  ASSAY_TRY_ASSIGN(const std::string tail, bytes_at(source, size - tail_bytes, tail_bytes));
  const size_t end = tail.rfind(kEmptyZip);
  if (end == std::string::npos || tail.size() - end < kEndRecord) {
    return damaged("it has no table of members; was it copied whole?");
  }
  Directory found{.offset = little(tail, end + 16, 4),
                  .bytes = little(tail, end + 12, 4),
                  .entries = little(tail, end + 10, 2)};
  if (end < kLocator || tail.compare(end - kLocator, 4, "PK\x06\x07") != 0) return found;
  ASSAY_TRY_ASSIGN(const std::string zip64,
                   bytes_at(source, little(tail, end - kLocator + 8, 8), 56));
  if (!zip64.starts_with("PK\x06\x06")) return damaged("its table of members is not where it says");
  found.entries = little(zip64, 32, 8);
  found.bytes = little(zip64, 40, 8);
  found.offset = little(zip64, 48, 8);
  return found;
}

struct Member {
  std::string name;
  uint64_t method = 0;
  uint64_t flags = 0;
  uint64_t crc = 0;
  uint64_t stored = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
  uint64_t mode = 0;
};

// A zip64 extra field holds only those sizes that do not fit 32 bits.
void take_zip64(std::string_view extra, Member& member) {
  while (extra.size() >= 4) {
    const uint64_t id = little(extra, 0, 2);
    const size_t length = static_cast<size_t>(little(extra, 2, 2));
    if (length > extra.size() - 4) return;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (uint64_t* value : {&member.bytes, &member.stored, &member.offset}) {
      if (*value != UINT32_MAX || field.size() < 8) continue;
      *value = little(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

Result<std::vector<Member>> members_of(const ByteSource& source) {
  constexpr size_t kEntry = 46;
  ASSAY_TRY_ASSIGN(const Directory directory, find_directory(source));
  if (directory.entries > kMostMembers) {
    return Error{ErrorCode::kUnsupported, "more than 10,000 members: unpack it and give the folder",
                 "", -1};
  }
  if (directory.bytes > (uint64_t{1} << 26)) return damaged("its table of members is too long");
  ASSAY_TRY_ASSIGN(const std::string text, bytes_at(source, directory.offset, directory.bytes));
  std::string_view rest = text;
  std::vector<Member> members;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (rest.size() < kEntry || !rest.starts_with("PK\x01\x02")) {
      return damaged("its table of members is");
    }
    Member member{.method = little(rest, 10, 2),
                  .flags = little(rest, 8, 2),
                  .crc = little(rest, 16, 4),
                  .stored = little(rest, 20, 4),
                  .bytes = little(rest, 24, 4),
                  .offset = little(rest, 42, 4),
                  .mode = little(rest, 40, 2)};
    const size_t name = static_cast<size_t>(little(rest, 28, 2));
    const size_t extra = static_cast<size_t>(little(rest, 30, 2));
    const size_t comment = static_cast<size_t>(little(rest, 32, 2));
    if (name + extra + comment > rest.size() - kEntry) return damaged("its table of members is");
    member.name = rest.substr(kEntry, name);
    take_zip64(rest.substr(kEntry + name, extra), member);
    rest.remove_prefix(kEntry + name + extra + comment);
    members.push_back(std::move(member));
  }
  return members;
}

// Presents a member as a gzip stream, so that one decoder also checks its length and checksum.
// Stored members become stored blocks of deflate.
class AsGzip {
 public:
  AsGzip(ReadFn data, const Member& member) : data_(std::move(data)), stores_(member.method == 0) {
    pending_ = std::string("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    end_ = (stores_ ? std::string("\x01\0\0\xff\xff", 5) : std::string()) +
           little_text(member.crc, 4) + little_text(member.bytes, 4);
  }

  Result<size_t> operator()(char* dst, size_t n) {
    if (at_ == pending_.size()) ASSAY_TRY(next());
    const size_t taken = std::min(n, pending_.size() - at_);
    std::memcpy(dst, pending_.data() + at_, taken);
    at_ += taken;
    return taken;
  }

 private:
  Status next() {
    constexpr size_t kLongestBlock = 65535;
    at_ = 0;
    pending_.resize(kLongestBlock);
    size_t got = 0;
    if (!ended_) {
      ASSAY_TRY_ASSIGN(got, data_(pending_.data(), pending_.size()));
    }
    pending_.resize(got);
    if (got == 0 && !ended_) {
      ended_ = true;
      pending_ = end_;
    } else if (stores_ && got > 0) {
      pending_.insert(0, std::string(1, '\0') + little_text(got, 2) + little_text(~got, 2));
    }
    return Ok{};
  }

  ReadFn data_;
  bool stores_;
  bool ended_ = false;
  std::string pending_;
  size_t at_ = 0;
  std::string end_;
};

Status unpack_zip(const ByteSource& source, Unpacker& into) {
  constexpr uint64_t kLink = 0xA000;
  constexpr uint64_t kTypeMask = 0xF000;
  constexpr uint64_t kLocal = 30;
  ASSAY_TRY_ASSIGN(const std::vector<Member> members, members_of(source));
  for (const Member& member : members) {
    if (member.name.ends_with('/')) {
      ASSAY_TRY(into.check(member.name));
      continue;
    }
    if ((member.mode & kTypeMask) == kLink) return refused(member.name, "is a link: refused");
    if ((member.flags & 1) != 0) {
      return refused(member.name, "is encrypted: unpack the archive and give the folder");
    }
    if (member.method != 0 && member.method != 8) {
      return refused(member.name, "is compressed in a way that is not read (method " +
                                      std::to_string(member.method) +
                                      "): unpack the archive and give the folder");
    }
    ASSAY_TRY_ASSIGN(const std::string local, bytes_at(source, member.offset, kLocal));
    if (!local.starts_with(kLocalHeader)) return damaged("a member is not where its table says");
    const uint64_t begin =
        member.offset + kLocal + little(local, 26, 2) + little(local, 28, 2);
    if (begin > source.stored_bytes() || member.stored > source.stored_bytes() - begin) {
      return damaged("it ends early");
    }
    ASSAY_TRY(into.add(member.name,
                       gunzip(AsGzip(source.range(begin, begin + member.stored), member))));
  }
  return Ok{};
}

// ---- tar ----------------------------------------------------------------------------------------

std::string_view field_of(std::string_view header, size_t at, size_t length) {
  const std::string_view field = header.substr(at, length);
  return field.substr(0, field.find('\0'));
}

// Octal digits, or a binary number if the highest bit is set.
std::optional<uint64_t> number_of(std::string_view field) {
  uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80u) != 0) {
    for (size_t i = 1; i < field.size(); ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(field[i]);
    }
    return value;
  }
  for (const char c : field) {
    if (c == ' ' || c == '\0') continue;
    if (c < '0' || c > '7' || value >> 60 != 0) return std::nullopt;
    value = value << 3 | static_cast<uint64_t>(c - '0');
  }
  return value;
}

bool is_tar_header(std::string_view block) {
  if (block.size() < kTarBlock || block[0] == '\0') return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= 148 && i < 156;  // the checksum field itself counts as blanks
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  const std::optional<uint64_t> told = number_of(block.substr(148, 8));
  return told && *told == sum;
}

class TarReader {
 public:
  explicit TarReader(ReadFn read) : read_(std::move(read)) {}

  Status unpack(Unpacker& into) {
    for (;;) {
      ASSAY_TRY_ASSIGN(const std::string header, take(kTarBlock, true));
      if (header.empty() || header.find_first_not_of('\0') == std::string::npos) return Ok{};
      if (!is_tar_header(header)) return damaged("a header in it is");
      ASSAY_TRY(member(header, into));
    }
  }

 private:
  Status member(std::string_view header, Unpacker& into) {
    constexpr uint64_t kLongestName = 65536;
    const std::optional<uint64_t> told = number_of(header.substr(124, 12));
    if (!told) return damaged("a header in it is");
    const char type = header[156];
    if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
      if (*told > kLongestName) return damaged("a header in it is too long");
      ASSAY_TRY_ASSIGN(const std::string text, take(padded(*told), false));
      take_extended(type, std::string_view(text).substr(0, static_cast<size_t>(*told)));
      return Ok{};
    }
    const uint64_t bytes = std::exchange(size_, std::nullopt).value_or(*told);
    std::string name = std::exchange(name_, {});
    if (name.empty()) {
      const std::string_view prefix =
          header.substr(257, 6) == std::string_view("ustar\0", 6) ? field_of(header, 345, 155) : "";
      name = (prefix.empty() ? "" : std::string(prefix) + "/") +
             std::string(field_of(header, 0, 100));
    }
    while (name.starts_with("./")) name.erase(0, 2);
    if (type == '5' || name.empty()) {
      if (!name.empty()) ASSAY_TRY(into.check(name));
      return skip(padded(bytes));
    }
    if (type == '1' || type == '2') return refused(name, "is a link: refused");
    if (type != '0' && type != '\0' && type != '7') {
      return refused(name, "is not a plain file (tar type " + std::string(1, type) + "): refused");
    }
    uint64_t left = bytes;
    ASSAY_TRY(into.add(name, [this, &left](char* dst, size_t n) -> Result<size_t> {
      const size_t want = static_cast<size_t>(std::min<uint64_t>(n, left));
      if (want == 0) return size_t{0};
      ASSAY_TRY_ASSIGN(const size_t got, read_(dst, want));
      if (got == 0) return damaged("it ends early");
      left -= got;
      return got;
    }));
    return skip(padded(bytes) - bytes);
  }

  // Reads long names of GNU tar, and pax records such as "27 path=...\n".
  void take_extended(char type, std::string_view text) {
    if (type == 'L') name_ = text.substr(0, text.find('\0'));
    if (type != 'x') return;
    while (!text.empty()) {
      const size_t blank = text.find(' ');
      uint64_t length = 0;
      if (blank == std::string_view::npos || !parse_uint64(text.substr(0, blank), length)) return;
      if (length <= blank + 1 || length > text.size()) return;
      const std::string_view record =
          text.substr(blank + 1, static_cast<size_t>(length) - blank - 2);
      text.remove_prefix(static_cast<size_t>(length));
      uint64_t size = 0;
      if (record.starts_with("path=")) name_ = record.substr(5);
      if (record.starts_with("size=") && parse_uint64(record.substr(5), size)) size_ = size;
    }
  }

  static uint64_t padded(uint64_t bytes) { return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock; }

  Result<std::string> take(uint64_t bytes, bool may_end) {
    std::string text(static_cast<size_t>(bytes), '\0');
    for (size_t filled = 0; filled < text.size();) {
      ASSAY_TRY_ASSIGN(const size_t got, read_(text.data() + filled, text.size() - filled));
      if (got == 0 && filled == 0 && may_end) return std::string();
      if (got == 0) return damaged("it ends early");
      filled += got;
    }
    return text;
  }

  Status skip(uint64_t bytes) {
    for (; bytes > 0; bytes -= std::min<uint64_t>(bytes, kPiece)) {
      ASSAY_TRY(take(std::min<uint64_t>(bytes, kPiece), false));
    }
    return Ok{};
  }

  ReadFn read_;
  std::string name_;              // of the next member, from an extended header
  std::optional<uint64_t> size_;  // likewise
};

bool is_zip(std::string_view head) {
  return head.starts_with(kLocalHeader) || head.starts_with(kEmptyZip);
}

}  // namespace

bool is_archive(const std::string& path) {
  if (!is_regular_file(path)) return false;
  const auto head = read_head(path, kTarBlock);
  if (!head) return false;
  return is_zip(*head) || is_tar_header(*head);
}

Status unpack_archive(const std::string& path, const std::string& folder) {
  ASSAY_TRY_ASSIGN(ByteSource source, ByteSource::open(path));
  Unpacker into(folder, source.stored_bytes());
  if (source.seekable()) {
    const auto head = bytes_at(source, 0, 4);
    if (head && is_zip(*head)) return unpack_zip(source, into);
  }
  return TarReader(source.stream(true)).unpack(into);
}

}  // namespace assay
