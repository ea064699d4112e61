#include "levels/kernel_base_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace assay {
namespace {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

// Text outside <>, () and "(anonymous namespace)", up to the parameters.
std::string flattened(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string flat;
  int angles = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    const char c = name[i];
    if (c == '<') ++angles;
    if (c == '(' && angles == 0 && !flat.empty()) break;
    if (angles == 0) flat += c;
    if (c == '>' && angles > 0) --angles;
  }
  while (!flat.empty() && flat.back() == ' ') flat.pop_back();
  return flat;
}

}  // namespace

std::string plain_kernel_name(std::string_view name) {
  for (const std::string_view ending : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  return demangled(std::string(name));
}

std::string base_kernel_name(std::string_view name) {
  const std::string plain = plain_kernel_name(name);
  std::string flat = flattened(plain);
  const size_t space = flat.rfind(' ');
  if (space != std::string::npos) flat.erase(0, space + 1);
  const size_t colons = flat.rfind("::");
  if (colons != std::string::npos) flat.erase(0, colons + 2);
  return flat.empty() ? plain : flat;
}

}  // namespace assay
