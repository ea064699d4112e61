#pragma once

// A shared library opened at run time, and its functions bound one by one, so that Assay builds and
// answers where there is no GPU. The library stays open for the life of the process: drivers do not
// bear being unloaded.

#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

class DynamicLibrary {
 public:
  // The first of `names` that can be opened; `what` says in the error what is missing and where it
  // comes from.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names,
                                     const std::string& what);
  // Fails when the library has no function of that name.
  template <typename Function>
  Status bind(const char* name, Function*& function) const {
    ASSAY_TRY_ASSIGN(void* const address, find(name));
    function = reinterpret_cast<Function*>(address);
    return Ok{};
  }
  // Leaves `function` null when the library has none of that name.
  template <typename Function>
  void bind_if_there(const char* name, Function*& function) const {
    auto address = find(name);
    function = address ? reinterpret_cast<Function*>(*address) : nullptr;
  }
  const std::string& name() const { return name_; }
  std::string path() const;  // of its file; empty if the system does not report it

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  Result<void*> find(const char* symbol) const;

  void* handle_;
  std::string name_;
};

// Possible paths of a library that belongs to Assay: the folder of this program, and lib/assay,
// ../lib/assay and ../lib of it. Only existing files that no other user could have put there. If
// there are none, the name alone, which the system searches for.
std::vector<std::string> libraries_beside_program(const std::string& file_name);

}  // namespace assay
