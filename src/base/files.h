#pragma once

// The only access to files, folders and their names: all opening, inspecting, renaming, listing and
// removing is here (tools/check_layers.py). No call can throw, and a failure always names the file
// and the reason. Input bytes go through base/byte_source.h, and output for the user through
// base/output_file.h.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// ---- what lies at a path; symbolic links are followed
// --------------------------------------------

enum class FileKind : uint8_t { kFile, kFolder, kSpecial };  // special: pipe, socket, device

struct FileFacts {
  FileKind kind = FileKind::kFile;
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  int64_t used_ns = 0;  // last read, if the file system records it; else mtime_ns
  uint64_t device = 0;
  uint64_t inode = 0;
  uint32_t owner = 0;  // user id
  uint32_t group = 0;
  uint32_t mode = 0;  // permission bits
};

// Errors: kIo, with the system's reason and the path as the error's file.
Result<FileFacts> file_facts(const std::string& path);
// The same of an open file; the error names no file.
Result<FileFacts> file_facts(int descriptor);
// True if the path is known to exist; false also if its folder is not accessible.
bool file_exists(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_folder(const std::string& path);
bool is_special_file(const std::string& path);
bool is_symbolic_link(const std::string& path);
bool is_program(const std::string& path);  // a file that may be executed
// Both exist and are one.
bool is_same_file(const std::string& a, const std::string& b);
// True if an open descriptor refers to this file, as standard output does after a shell's >.
bool is_file_of(int descriptor, const std::string& path);

// ---- names
// ---------------------------------------------------------------------------------------

std::string file_name(const std::string& path);     // after the last slash
std::string folder_of(const std::string& path);     // before it; empty where there is none
std::string extension_of(const std::string& path);  // ".json"; empty where there is none
std::string with_extension(const std::string& path, const std::string& extension);
std::string joined(const std::string& folder, const std::string& name);
std::string normal_path(const std::string& path);  // without "." and "..", by the text alone
// Absolute and normalised; `path` itself if the working folder is unknown.
std::string absolute_path(const std::string& path);
// The folders and the name that make up a path.
std::vector<std::string> path_parts(const std::string& path);
// The file that a symbolic link leads to, which need not exist. Errors: a loop, a closed way.
Result<std::string> link_target(const std::string& path);

// ---- folders
// -------------------------------------------------------------------------------------

// The regular files in a folder, sorted, each with the folder's path in front.
Result<std::vector<std::string>> files_in(const std::string& folder);
// Those of the folders below it as well, `depth` of them deep. Folders that cannot be opened are
// left out.
std::vector<std::string> files_below(const std::string& folder, int depth);
bool is_empty_folder(const std::string& path);
// The files and folders that a shell pattern (* ? [) matches, sorted.
std::vector<std::string> matching_files(const std::string& pattern);
// With those above it; `mode` is the one of those that are made. Fine where it is there already.
Status make_folders(const std::string& path, uint32_t mode = 0777);

// ---- files
// ---------------------------------------------------------------------------------------

struct CloseHandle {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseHandle>;
// mode: as of fopen. The error's file is the path.
Result<FileHandle> open_file(const std::string& path, const char* mode);
// A descriptor for reading. The caller closes it.
Result<int> open_descriptor(const std::string& path);
// All of it, up to `most` bytes; files that are small by nature.
Result<std::string> file_text(const std::string& path, size_t most = size_t{1} << 26);
Status rename_file(const std::string& from, const std::string& to);
// Fine where there is none.
Status remove_file(const std::string& path);
// Removes a folder with its content. Entries that cannot be removed stay.
void remove_tree(const std::string& path);
Status cut_file(const std::string& path, uint64_t bytes);
// A folder may be written to by this user; else the system's reason.
Status check_writable_folder(const std::string& folder);

// ---- this program and what belongs to it
// ---------------------------------------------------------

std::string program_path();  // empty if the system does not report it
std::string program_folder();
// Check for files that are loaded or run although the user did not name them. Fails unless the file
// and all folders above it belong to root, this user or the owner of this program, and only that
// owner can write there.
Status check_trusted(const std::string& path);

// The user's cache folder for `below`: $XDG_CACHE_HOME/below, else $HOME/.cache/below. Relative
// values do not count. Fails if neither variable is set, if the folder belongs to somebody else, or
// if others may write to it.
Result<std::string> user_cache_folder(const std::string& below);

}  // namespace assay
