#include "base/files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptors.h"
#include "base/platform/platform.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

Error file_error(const std::string& path, const std::string& what, int code) {
  return {ErrorCode::kIo, what + ": " + std::strerror(code), path, -1};
}

FileFacts facts_of(const struct stat& info) {
  constexpr int64_t kSecond = 1'000'000'000;
  FileFacts facts;
  facts.kind = S_ISREG(info.st_mode)   ? FileKind::kFile
               : S_ISDIR(info.st_mode) ? FileKind::kFolder
                                       : FileKind::kSpecial;
  facts.bytes = static_cast<uint64_t>(info.st_size);
  facts.mtime_ns = int64_t{info.st_mtim.tv_sec} * kSecond + info.st_mtim.tv_nsec;
  const int64_t read_ns = int64_t{info.st_atim.tv_sec} * kSecond + info.st_atim.tv_nsec;
  facts.used_ns = std::max(facts.mtime_ns, read_ns);
  facts.device = info.st_dev;
  facts.inode = info.st_ino;
  facts.owner = info.st_uid;
  facts.group = info.st_gid;
  facts.mode = info.st_mode & 07777;
  return facts;
}

bool is_kind(const std::string& path, FileKind kind) {
  const auto facts = file_facts(path);
  return facts && facts->kind == kind;
}

// Appends the entries of one folder, unsorted. Skips entries that cannot be inspected.
Status append_entries(const std::string& folder, std::vector<std::string>& files,
                      std::vector<std::string>& folders) {
  std::error_code failed;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    std::error_code unknown;
    const std::string path = at->path().string();
    if (at->is_regular_file(unknown)) files.push_back(path);
    if (!at->is_symlink(unknown) && at->is_directory(unknown)) folders.push_back(path);
  }
  if (failed) return file_error(folder, "cannot list", failed.value());
  return Ok{};
}

bool others_may_write(const FileFacts& facts) {
  if ((facts.mode & S_IWOTH) != 0) return true;
  // Many systems create users' own groups as group-writable; groups of several people are unsafe.
  const bool own_group = facts.group == 0 || facts.group == ::getegid();
  return (facts.mode & S_IWGRP) != 0 && !own_group;
}

}  // namespace

// ---- Status of a path ----

Result<FileFacts> file_facts(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return file_error(path, "cannot be looked at", errno);
  return facts_of(info);
}

Result<FileFacts> file_facts(int descriptor) {
  struct stat info{};
  if (platform::status_of(descriptor, info) != 0) return file_error("", "cannot stat", errno);
  return facts_of(info);
}

bool file_exists(const std::string& path) { return file_facts(path).has_value(); }
bool is_regular_file(const std::string& path) { return is_kind(path, FileKind::kFile); }
bool is_folder(const std::string& path) { return is_kind(path, FileKind::kFolder); }
bool is_special_file(const std::string& path) { return is_kind(path, FileKind::kSpecial); }

bool is_symbolic_link(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

bool is_program(const std::string& path) {
  return is_regular_file(path) && ::access(path.c_str(), X_OK) == 0;
}

namespace {

bool are_one(const Result<FileFacts>& a, const Result<FileFacts>& b) {
  return a && b && a->device == b->device && a->inode == b->inode;
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  return are_one(file_facts(a), file_facts(b));
}

bool is_file_of(int descriptor, const std::string& path) {
  return are_one(file_facts(descriptor), file_facts(path));
}

// ---- Names ----

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }
std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }
std::string extension_of(const std::string& path) { return fs::path(path).extension().string(); }

std::string with_extension(const std::string& path, const std::string& extension) {
  return fs::path(path).replace_extension(extension).string();
}

std::string joined(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

std::string normal_path(const std::string& path) {
  return fs::path(path).lexically_normal().string();
}

std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(path, failed);
  return failed ? path : full.lexically_normal().string();
}

std::vector<std::string> path_parts(const std::string& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(path)) parts.push_back(part.string());
  return parts;
}

Result<std::string> link_target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  std::string at = path;
  for (int links = 0; is_symbolic_link(at); ++links) {
    if (links == kMostLinks) return file_error(path, "cannot be followed", ELOOP);
    std::error_code failed;
    const fs::path next = fs::read_symlink(at, failed);
    if (failed) return file_error(path, "cannot be followed", failed.value());
    at = next.is_absolute() ? next.string() : (fs::path(at).parent_path() / next).string();
  }
  return at;
}

// ---- Folders ----

Result<std::vector<std::string>> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::vector<std::string> folders;
  ASSAY_TRY(append_entries(folder, files, folders));
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> files_below(const std::string& folder, int depth) {
  std::vector<std::string> files;
  std::vector<std::string> level = {folder};
  for (; depth >= 0 && !level.empty(); --depth) {
    std::vector<std::string> next;
    for (const std::string& inside : level) (void)append_entries(inside, files, next);
    level = std::move(next);
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_empty_folder(const std::string& path) {
  std::error_code failed;
  return is_folder(path) && fs::is_empty(path, failed) && !failed;
}

std::vector<std::string> matching_files(const std::string& pattern) {
  glob_t matches{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    files.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  ::globfree(&matches);
  return files;
}

Status make_folders(const std::string& path, uint32_t mode) {
  const std::string above = folder_of(path);
  if (is_folder(path)) return Ok{};
  if (!above.empty() && above != path) ASSAY_TRY(make_folders(above, mode));
  // Another process may create the folder at the same time, or a trailing slash names it twice.
  if (::mkdir(path.c_str(), mode) == 0 || path.empty()) return Ok{};
  const int code = errno;
  if (code == EEXIST && is_folder(path)) return Ok{};
  return file_error(path, "cannot create", code == EEXIST ? ENOTDIR : code);
}

// ---- Files ----

Result<FileHandle> open_file(const std::string& path, const char* mode) {
  FileHandle file(std::fopen(path.c_str(), (std::string(mode) + "e").c_str()));
  if (!file) return file_error(path, *mode == 'r' ? "cannot open" : "cannot write", errno);
  return file;
}

Result<int> open_descriptor(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return file_error("", "cannot open", errno);
  return descriptor;
}

bool hold_descriptor(bool for_writing) {
  return ::open("/dev/null", for_writing ? O_WRONLY : O_RDONLY) >= 0;
}

Result<std::string> file_head(const std::string& path, size_t most) {
  ASSAY_TRY_ASSIGN(const FileHandle file, open_file(path, "rb"));
  std::string text;
  char block[1 << 14];
  for (;;) {
    const size_t got =
        std::fread(block, 1, std::min(sizeof(block), most - text.size()), file.get());
    text.append(block, got);
    if (std::ferror(file.get()) != 0) return file_error(path, "cannot read", errno);
    if (got == 0 || text.size() == most) return text;
  }
}

Result<std::string> file_text(const std::string& path, size_t most) {
  ASSAY_TRY_ASSIGN(std::string text, file_head(path, most == SIZE_MAX ? most : most + 1));
  if (text.size() <= most) return text;
  return Error{ErrorCode::kFormat, "larger than " + std::to_string(most) + " bytes", path, -1};
}

Status rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return Ok{};
  return file_error(to, "cannot write", errno);
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Ok{};
  return file_error(path, "cannot remove", errno);
}

void remove_tree(const std::string& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
}

Status cut_file(const std::string& path, uint64_t bytes) {
  if (::truncate(path.c_str(), static_cast<off_t>(bytes)) == 0) return Ok{};
  return file_error(path, "cannot be cut", errno);
}

Status check_writable_folder(const std::string& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return Ok{};
  return file_error(folder, "cannot write here", errno);
}

// ---- This program ----

std::string program_path() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "" : path.string();
}

std::string program_folder() { return folder_of(program_path()); }

Status check_trusted(const std::string& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed) return file_error(path, "cannot be looked at", failed.value());
  const auto program = file_facts(program_path());
  for (fs::path at = real;; at = at.parent_path()) {
    ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(at.string()));
    const bool known = facts.owner == 0 || facts.owner == ::geteuid() ||
                       (program && facts.owner == program->owner);
    // A sticky folder such as /tmp is safe: users cannot replace other users' files in it.
    const bool sticky = facts.kind == FileKind::kFolder && (facts.mode & S_ISVTX) != 0;
    if (!known || (others_may_write(facts) && !sticky)) {
      return Error{
          ErrorCode::kInvalidArgument,
          "is not used: " + at.string() +
              (known ? " can be written to by others"
                     : " belongs to another user (id " + std::to_string(facts.owner) + ")"),
          path, -1};
    }
    if (at == at.parent_path()) return Ok{};
  }
}

Result<std::string> user_cache_folder(const std::string& below) {
  for (const auto& [name, cache] : {std::pair{"XDG_CACHE_HOME", ""}, {"HOME", ".cache"}}) {
    const char* told = std::getenv(name);
    if (told == nullptr || *told != '/') continue;
    const std::string folder = normal_path((fs::path(told) / cache / below).string());
    if (file_exists(folder)) ASSAY_TRY(check_trusted(folder));
    return folder;
  }
  return Error{ErrorCode::kInvalidArgument, "neither XDG_CACHE_HOME nor HOME names a folder", "",
               -1};
}

}  // namespace assay
