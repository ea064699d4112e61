#pragma once

// A shared library opened at run time, with functions bound one by one, so that Assay builds and
// runs without a GPU. The library is never unloaded, because GPU drivers do not support that.

#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

class DynamicLibrary {
 public:
  // Opens the first of `names` that is available. `what` names the missing library and its source
  // in the error.
  static Result<DynamicLibrary> open(const std::vector<std::string>& names,
                                     const std::string& what);
  // Fails if the library has no such function.
  template <typename Function>
  Status bind(const char* name, Function*& function) const {
    ASSAY_TRY_ASSIGN(void* const address, find(name));
    function = reinterpret_cast<Function*>(address);
    return Ok{};
  }
  // Sets `function` to null if the library has no such function.
  template <typename Function>
  void bind_if_there(const char* name, Function*& function) const {
    auto address = find(name);
    function = address ? reinterpret_cast<Function*>(*address) : nullptr;
  }
  const std::string& name() const { return name_; }
  std::string path() const;  // of the library file; empty if the system does not report it

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  Result<void*> find(const char* symbol) const;

  void* handle_;
  std::string name_;
};

// Candidate paths of a library that ships with Assay: in the program's folder, and in lib/assay,
// ../lib/assay and ../lib below it. Only existing files that no other user could have put there. If
// there are none, the bare name, for the system's search.
std::vector<std::string> libraries_beside_program(const std::string& file_name);

}  // namespace assay
