// Canonical kernel names (spec/overhead 3.1), the names by which kernels of a trace and of a replay
// are matched. Cleaning is idempotent: a cleaned name is a plain word that already has all its
// tags.

#include <algorithm>
#include <array>
#include <cctype>

#include "base/ascii.h"
#include "kernels/name.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 14> kGeneric = {
    "kernel", "kernel2", "_kernel",    "device_kernel", "kernel_entry",
    "run",    "launch",  "execute",    "invoke",        "main",
    "entry",  "call",    "operator()", "global_kernel"};
constexpr std::array<std::string_view, 9> kGemmMarkers = {
    "gemm", "wgmma", "sm90", "sm100", "cutlass", "cublas", "cudnn", "xmma", "tensorop"};
// Most specific first.
constexpr std::array<std::string_view, 5> kAttention = {"flash_fwd", "flash_bwd", "flash", "fmha",
                                                        "attention"};

// Keeps characters of words, including UTF-8; any other becomes one '_'.
std::string as_word(std::string_view text) {
  std::string word;
  for (char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.' ||
                       (static_cast<unsigned char>(c) & 0x80U) != 0;
    if (plain) {
      word += c;
    } else if (!word.empty() && word.back() != '_') {
      word += '_';
    }
  }
  while (!word.empty() && word.back() == '_' && !text.ends_with('_')) word.pop_back();
  return word;
}

// Splits "a::b::c" into "a::b" and "c".
std::string_view take_last_component(std::string_view& path) {
  const size_t colon = path.rfind("::");
  const std::string_view last = colon == std::string_view::npos ? path : path.substr(colon + 2);
  path = colon == std::string_view::npos ? std::string_view() : path.substr(0, colon);
  return last;
}

// The nearest scope with a name of its own: not "(anonymous namespace)", not a lambda.
std::string enclosing_name(std::string_view path) {
  while (!path.empty()) {
    std::string_view shorter = short_kernel_name(path);
    const std::string_view last = take_last_component(shorter);
    if (!last.empty() && (is_letter(last[0]) || last[0] == '_')) return as_word(last);
    take_last_component(path);
  }
  return {};
}

// "sm80", "sm_90a", "gfx942": the first one that starts a word or follows a lower-case word part.
std::string architecture_tag(std::string_view raw) {
  const std::string text = lower(raw);
  for (std::string_view family : {std::string_view("sm"), std::string_view("gfx")}) {
    for (size_t at = text.find(family); at != std::string::npos; at = text.find(family, at + 1)) {
      if (at > 0 && is_letter(raw[at - 1]) && raw[at] != 'S') continue;
      size_t end = at + family.size();
      if (end < text.size() && text[end] == '_') ++end;
      const size_t digits = end;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end - digits >= 2 && end - digits <= 4) return text.substr(at, end - at);
    }
  }
  return {};
}

void append_tag(std::string& name, std::string_view tag) {
  if (!tag.empty() && !contains(lower(name), tag)) name.append("_").append(tag);
}

void append_tags(std::string_view raw, std::string& name) {
  const std::string text = lower(raw);
  const auto in_text = [&](std::string_view part) { return contains(text, part); };
  const auto attention = std::find_if(kAttention.begin(), kAttention.end(), in_text);
  // Check attention first: names of attention kernels contain GEMM parts.
  if (attention != kAttention.end()) {
    append_tag(name, *attention);
  } else if (std::any_of(kGemmMarkers.begin(), kGemmMarkers.end(), in_text)) {
    append_tag(name, "gemm");
  }
  append_tag(name, architecture_tag(raw));
}

}  // namespace

std::string clean_kernel_name(std::string_view raw) {
  std::string_view path = short_kernel_name(raw);
  const std::string_view last = take_last_component(path);
  std::string name = as_word(last);
  const std::string word = lower(last);
  if (name.empty() || std::find(kGeneric.begin(), kGeneric.end(), word) != kGeneric.end()) {
    const std::string scope = enclosing_name(path);
    if (!scope.empty()) name = name.empty() ? scope : scope + "_" + name;
  }
  if (name.empty()) name = as_word(raw);
  if (name.empty()) return std::string(raw.empty() ? "" : "_");
  append_tags(raw, name);
  return name;
}

}  // namespace assay
