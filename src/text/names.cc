#include "text/names.h"

#include "text/plain_text.h"

namespace assay {
namespace {

// The text between `before` and `after`, or up to the end if `after` is missing; empty without
// `before`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

// Types that say nothing about the function that they contain.
bool is_holder(std::string_view type) { return type.empty() || type == "type" || type == "module"; }

std::string joined_with(std::string_view type, std::string_view function) {
  return is_holder(type) ? std::string(function) : std::string(type) + "." + std::string(function);
}

// "folders/file.py(12): function" without the folders. Other names are unchanged.
std::string_view without_folders(std::string_view name) {
  const size_t place = name.find(".py(");
  if (place == std::string_view::npos) return name;
  const size_t slash = name.rfind('/', place);
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

}  // namespace

std::string spoken(std::string_view name) {
  if (name.starts_with("<built-in ")) {
    const bool method = name.starts_with("<built-in method ");
    const std::string_view function =
        between(name, method ? "<built-in method " : "<built-in function ", " of ");
    if (function.empty()) return std::string(name);
    const std::string_view own = function.substr(0, function.find('>'));
    return joined_with(between(name, " of ", " object"), own);
  }
  if (name.starts_with("<method '")) {
    return joined_with(between(name, "' of '", "' objects"), between(name, "<method '", "' of "));
  }
  return std::string(name);
}

std::string fitted(std::string_view name, size_t room) {
  const std::string text = clean_text(spoken(name));
  if (display_width(text) <= room) return text;
  const std::string_view short_name = without_folders(text);
  if (short_name.size() == text.size()) return shorten_middle(text, room);
  return shorten_middle("…/" + std::string(short_name), room);
}

}  // namespace assay
