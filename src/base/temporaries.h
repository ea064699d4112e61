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
  int slot_ = -1;  // index for the signal handler; -1 if not registered
};

// A new empty file in the folder of `target`, accessible only to this user. Its name is unique even
// if another process writes the same target. Errors name the target.
Result<Temporary> temporary_beside(const std::string& target, int& descriptor);
// A new empty folder in the folder of `target`; creates the folders above it.
Result<Temporary> temporary_folder_beside(const std::string& target);
// A new empty folder where the system keeps temporary ones ($TMPDIR, else /tmp).
Result<Temporary> temporary_folder(const std::string& prefix);

// After this call, SIGINT, SIGTERM and SIGHUP remove temporary files before they end the process as
// they would otherwise. For programs only; a library leaves signals alone. Ignored signals stay
// ignored.
void remove_temporaries_on_signals();

}  // namespace assay
