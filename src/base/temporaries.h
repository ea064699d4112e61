#pragma once

// Temporary files and folders, either until they are complete or for a short use. They are removed
// when their owner is destroyed, and also when a signal ends the process.

#include <string>

#include "base/result.h"

namespace assay {

// Removes its file or folder on destruction, unless keep() was called.
class Temporary {
 public:
  Temporary() = default;
  explicit Temporary(std::string path);
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&& other) noexcept;
  ~Temporary() { remove(); }

  const std::string& path() const { return path_; }
  // Call it after the rename to the final name: the destructor then removes nothing.
  void keep();
  void remove();

 private:
  std::string path_;
  int slot_ = -1;  // index for the signal handler; -1 if not registered
};

// A new empty file in the folder of `target`, accessible only to this user. Its name is unique even
// if another process writes the same target. `descriptor` is open for writing. Errors name the
// target.
Result<Temporary> temporary_beside(const std::string& target, int& descriptor);
// A new empty folder in the folder of `target`. Creates missing parents.
Result<Temporary> temporary_folder_beside(const std::string& target);
// A new empty folder in the system's temporary folder ($TMPDIR, else /tmp).
Result<Temporary> temporary_folder(const std::string& prefix);

// After this call, SIGINT, SIGTERM and SIGHUP remove temporary files before they end the process as
// usual. Ignored signals stay ignored. For programs only; a library must not install signal
// handlers.
void remove_temporaries_on_signals();

}  // namespace assay
