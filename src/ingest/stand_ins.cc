#include "ingest/stand_ins.h"

#include <map>
#include <mutex>

#include "base/files.h"
#include "base/temporaries.h"
#include "ingest/archive.h"
#include "ingest/chrome/processes.h"

namespace assay {
namespace {

struct Name {
  std::string shown;
  std::string container;
};

// An unpacked container, and the state of its file.
struct Taken {
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  Temporary folder;
  StandIns processes;
};

class Registry {
 public:
  static Registry& of_process() {
    static Registry registry;
    return registry;
  }

  // The unpacked container at `path`; calls `fill` if it is new or has changed.
  template <typename Fill>
  Result<const Taken*> take(const std::string& path, const Fill& fill) {
    const std::lock_guard lock(mutex_);
    ASSAY_TRY_ASSIGN(const FileFacts facts, file_facts(path));
    const std::string key = absolute_path(path);
    const auto found = taken_.find(key);
    if (found != taken_.end() && found->second.bytes == facts.bytes &&
        found->second.mtime_ns == facts.mtime_ns) {
      return static_cast<const Taken*>(&found->second);
    }
    Taken taken{.bytes = facts.bytes, .mtime_ns = facts.mtime_ns};
    ASSAY_TRY_ASSIGN(taken.folder, temporary_folder("assay-inputs-"));
    ASSAY_TRY(fill(taken));
    return static_cast<const Taken*>(&taken_.insert_or_assign(key, std::move(taken)).first->second);
  }

  // Call only from `fill`, which runs under the lock.
  void name(const std::string& path, Name name) { names_[path] = std::move(name); }

  Name name_of(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(path);
    if (found != names_.end()) return found->second;
    for (const auto& [folder, name] : names_) {
      if (path.size() <= folder.size() + 1 || !path.starts_with(folder + "/")) continue;
      return {name.shown + path.substr(folder.size()), name.container};
    }
    return {path, path};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Taken> taken_;
  std::map<std::string, Name> names_;  // names of files, and of folders for all files in them
};

Error named(Error error, const std::string& path) {
  if (error.file.empty()) error.file = path;
  return error;
}

}  // namespace

Result<StandIns> processes_apart(const std::string& path) {
  const std::string shown = shown_path(path);
  const std::string container = container_path(path);
  Registry& registry = Registry::of_process();
  auto taken = registry.take(path, [&](Taken& into) -> Status {
    ASSAY_TRY_ASSIGN(const SplitFile split, split_processes(path, into.folder.path()));
    into.processes.left_out = split.left_out;
    for (const ProcessPart& part : split.parts) {
      registry.name(part.path, {shown + ":" + part.name, container});
      into.processes.files.push_back(part.path);
    }
    return Ok{};
  });
  if (!taken) return named(taken.take_error(), shown);
  return (*taken)->processes;
}

Result<std::string> archive_folder(const std::string& path) {
  Registry& registry = Registry::of_process();
  auto taken = registry.take(path, [&](Taken& into) -> Status {
    registry.name(into.folder.path(), {path, path});
    return unpack_archive(path, into.folder.path());
  });
  if (!taken) return named(taken.take_error(), path);
  return (*taken)->folder.path();
}

std::string shown_path(const std::string& path) {
  return Registry::of_process().name_of(path).shown;
}

std::string container_path(const std::string& path) {
  return Registry::of_process().name_of(path).container;
}

}  // namespace assay
