#pragma once

// Files and folders that have a temporary name until they are whole, and those that are only needed
// for a while. They are removed when their owner goes, and also where a signal ends the process.

#include <string>

#include "base/result.h"

namespace assay {

// Removes what lies at a path when it goes, unless it was kept.
class Temporary {
 public:
  Temporary() = default;
  explicit Temporary(std::string path);
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&& other) noexcept;
  ~Temporary() { remove(); }

  const std::string& path() const { return path_; }
  // It has become what it was to be, under another name.
  void keep();
  void remove();

 private:
  std::string path_;
  int slot_ = -1;  // where the signal handler finds it; -1: it does not
};

// A new empty file beside `target`, for this user alone to take; the name is its own even where
// another process writes the same target. Errors name the target.
Result<Temporary> temporary_beside(const std::string& target, int& descriptor);
// A new empty folder beside `target`, with the folders above it.
Result<Temporary> temporary_folder_beside(const std::string& target);
// A new empty folder where the system keeps temporary ones ($TMPDIR, else /tmp).
Result<Temporary> temporary_folder(const std::string& prefix);

// From here on SIGINT, SIGTERM and SIGHUP remove what is temporary before they end the process, as
// they would without this: for programs; a library leaves signals alone. Signals that are ignored
// stay ignored.
void remove_temporaries_on_signals();

}  // namespace assay
