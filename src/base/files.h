#pragma once

// The one way to files, folders and their names: opened, looked at, renamed, listed and removed
// here alone (tools/check_layers.py), so that no call can throw, and a failure always says which
// file and why. Bytes of inputs come through base/byte_source.h, what is written for the user goes
// through base/output_file.h.

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
  int64_t used_ns = 0;  // last read, as far as the file system keeps it; else mtime_ns
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
// Whether it can be told that something lies there; false also where the way to it is closed.
bool file_exists(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_folder(const std::string& path);
bool is_special_file(const std::string& path);
bool is_symbolic_link(const std::string& path);
bool is_program(const std::string& path);  // a file that may be executed
// Both exist and are one.
bool is_same_file(const std::string& a, const std::string& b);
// The file that an open descriptor stands for, as standard output after a shell's >.
bool is_file_of(int descriptor, const std::string& path);

// ---- names
// ---------------------------------------------------------------------------------------

std::string file_name(const std::string& path);     // behind the last slash
std::string folder_of(const std::string& path);     // before it; empty where there is none
std::string extension_of(const std::string& path);  // ".json"; empty where there is none
std::string with_extension(const std::string& path, const std::string& extension);
std::string joined(const std::string& folder, const std::string& name);
std::string normal_path(const std::string& path);  // without "." and "..", by the text alone
// From the root, normal; the path itself where the working folder cannot be told.
std::string absolute_path(const std::string& path);
// The folders and the name that make up a path.
std::vector<std::string> path_parts(const std::string& path);
// The file that a symbolic link leads to, which need not exist. Errors: a loop, a closed way.
Result<std::string> link_target(const std::string& path);

// ---- folders
// -------------------------------------------------------------------------------------

// The regular files in a folder, sorted, each behind the folder's path.
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
// A folder with all in it. What cannot be removed stays.
void remove_tree(const std::string& path);
Status cut_file(const std::string& path, uint64_t bytes);
// A folder may be written to by this user; else the system's reason.
Status check_writable_folder(const std::string& folder);

// ---- this program and what belongs to it
// ---------------------------------------------------------

std::string program_path();  // empty where the system does not tell
std::string program_folder();
// For files that are loaded or run without having been named by the user: fails unless they, and
// all folders above them, belong to root, to this user or to whoever owns this program, and nobody
// else may write there.
Status check_trusted(const std::string& path);

// The user's folder for what can be made anew, `below` it: $XDG_CACHE_HOME/below, else
// $HOME/.cache/below; relative values do not count. Errors: neither is set; the folder is there and
// belongs to somebody else or others may write to it.
Result<std::string> user_cache_folder(const std::string& below);

}  // namespace assay
