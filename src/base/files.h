#pragma once

// All access to files, folders and their names: opening, inspecting, renaming, listing and removing
// (tools/check_layers.py enforces it). No function throws. Errors name the file and the reason.
// Input bytes are read through base/byte_source.h, and output for the user is written through
// base/output_file.h.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// ---- Status of a path; symbolic links are followed ----

enum class FileKind : uint8_t { kFile, kFolder, kSpecial };  // special: pipe, socket, device

struct FileFacts {
  FileKind kind = FileKind::kFile;
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  int64_t used_ns = 0;  // last read, if the file system records it; otherwise mtime_ns
  uint64_t device = 0;
  uint64_t inode = 0;
  uint32_t owner = 0;  // user id
  uint32_t group = 0;
  uint32_t mode = 0;  // permission bits
};

// Errors: kIo, with the system's reason and the path as the error's file.
Result<FileFacts> file_facts(const std::string& path);
// The same for an open file; the error names no file.
Result<FileFacts> file_facts(int descriptor);
// True if the path exists. False also if its folder is not accessible.
bool file_exists(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_folder(const std::string& path);
bool is_special_file(const std::string& path);
bool is_symbolic_link(const std::string& path);
bool is_program(const std::string& path);  // a file that this user may execute
// True if both exist and are the same file.
bool is_same_file(const std::string& a, const std::string& b);
// True if `descriptor` refers to this file, as standard output does after a shell's `>`.
bool is_file_of(int descriptor, const std::string& path);

// ---- Names ----

std::string file_name(const std::string& path);     // after the last slash
std::string folder_of(const std::string& path);     // before the last slash; empty if there is none
std::string extension_of(const std::string& path);  // ".json"; empty if there is none
std::string with_extension(const std::string& path, const std::string& extension);
std::string joined(const std::string& folder, const std::string& name);
std::string normal_path(const std::string& path);  // removes "." and ".." without looking at the
                                                   // file system
// Absolute and normalised; `path` itself if the working folder is unknown.
std::string absolute_path(const std::string& path);
// The components of a path: its folders and its name.
std::vector<std::string> path_parts(const std::string& path);
// Target of a symbolic link; the target need not exist. Errors: a loop, an inaccessible folder.
Result<std::string> link_target(const std::string& path);

// ---- Folders ----

// Paths of the regular files in `folder`, sorted.
Result<std::vector<std::string>> files_in(const std::string& folder);
// The same including subfolders down to `depth` levels. Folders that cannot be opened are skipped.
std::vector<std::string> files_below(const std::string& folder, int depth);
bool is_empty_folder(const std::string& path);
// The files and folders that a shell pattern (* ? [) matches, sorted.
std::vector<std::string> matching_files(const std::string& pattern);
// Creates a folder and its missing parents with `mode`. Succeeds if the folder already exists.
Status make_folders(const std::string& path, uint32_t mode = 0777);

// ---- Files ----

struct CloseHandle {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseHandle>;
// mode: as for fopen. The error's file is the path.
Result<FileHandle> open_file(const std::string& path, const char* mode);
// A descriptor for reading. The caller closes it.
Result<int> open_descriptor(const std::string& path);
// The content of a file that is small by nature; an error if it has more than `most` bytes.
Result<std::string> file_text(const std::string& path, size_t most = size_t{1} << 26);
// The first `most` bytes of a file, or fewer if it is shorter.
Result<std::string> file_head(const std::string& path, size_t most);
Status rename_file(const std::string& from, const std::string& to);
// Succeeds if the file does not exist.
Status remove_file(const std::string& path);
// Removes a folder and its content. Entries that cannot be removed are left.
void remove_tree(const std::string& path);
Status cut_file(const std::string& path, uint64_t bytes);
// Fails, with the system's reason, unless this user may write to the folder.
Status check_writable_folder(const std::string& folder);

// ---- This program ----

std::string program_path();  // empty if the system does not report it
std::string program_folder();
// Check before loading or running a file that the user did not name. Fails unless the file and all
// folders above it belong to root, this user or the owner of this program, and no other user can
// write to them or replace the file.
Status check_trusted(const std::string& path);

// The user's cache folder for `below`: $XDG_CACHE_HOME/below, else $HOME/.cache/below. Relative
// values are ignored. Fails if neither variable is set, if the folder belongs to another user, or
// if others may write to it.
Result<std::string> user_cache_folder(const std::string& below);

}  // namespace assay
