#include "base/json_tree.h"

#include "base/json_string.h"

namespace assay {
namespace {

template <typename Tree>
Tree parsed(std::string_view text) {
  if (nested_too_deep(text)) return Tree(Tree::value_t::discarded);
  return Tree::parse(text.begin(), text.end(), nullptr, false);
}

template <typename Tree>
std::string text_of(const Tree& tree, int indent) {
  return tree.dump(indent, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace

nlohmann::json parsed_json(std::string_view text) { return parsed<nlohmann::json>(text); }

nlohmann::ordered_json parsed_ordered_json(std::string_view text) {
  return parsed<nlohmann::ordered_json>(text);
}

std::string json_text(const nlohmann::json& tree, int indent) { return text_of(tree, indent); }

std::string json_text(const nlohmann::ordered_json& tree, int indent) {
  return text_of(tree, indent);
}

}  // namespace assay
