// One file that needs nothing else: the page of web/, the Document for it, and the JSON document,
// both packed. Base64 has no character that could end a script element.

#include <string>
#include <string_view>

#include "base/deflate.h"
#include "report/document/text.h"
#include "report/writers/page_view.h"
#include "report/writers/writers.h"

namespace assay {

// web/dist/report.html (CMakeLists.txt).
std::string_view page_template();

namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool padding = i + k > bytes.size();
      out += padding ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

std::string page_title(const Document& document) {
  std::string title = document.title.empty() ? document.tool.name : document.title;
  if (document.inputs.size() == 1) title += ": " + document.inputs.front().name;
  return escape_markup(title);
}

// The answer, for whoever opens the file without running its script.
std::string summary(const Document& document) {
  std::string out;
  if (document.answer) {
    const std::string text = write_answer_text(*document.answer, {});
    out += "<pre>";
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      out += escape_markup(std::string_view(text).substr(begin, end - begin)) + "\n";
      begin = end + 1;
    }
    return out + "</pre>\n";
  }
  for (const std::string& sentence : document.verdict)
    out += "<p>" + escape_markup(sentence) + "</p>\n";
  return out;
}

// The timelines of the document and its parts behind each other, in the order of page_view_json().
std::string all_lanes(const Document& document) {
  std::string lanes = document.lanes;
  for (const Part& part : document.parts) lanes += part.lanes;
  return lanes;
}

}  // namespace

std::string write_html(const Document& document) {
  const auto packed = [](std::string_view text) { return base64(gzip(text)); };
  const std::pair<std::string_view, std::string> fills[] = {
      {"@@assay-title@@", page_title(document)},
      {"@@assay-summary@@", summary(document)},
      {"@@assay-view@@", packed(page_view_json(document))},
      {"@@assay-lanes@@", packed(all_lanes(document))},
      {"@@assay-json@@", packed(write_json(document))}};
  std::string_view rest = page_template();
  std::string out;
  for (const auto& [marker, content] : fills) {
    const size_t at = rest.find(marker);
    if (at == std::string_view::npos) continue;  // a test holds every marker in its place
    out += rest.substr(0, at);
    out += content;
    rest.remove_prefix(at + marker.size());
  }
  out += rest;
  return out;
}

}  // namespace assay
