// A self-contained file: the page of web/, its data, and the JSON document, both compressed. Base64
// contains no character that could end a script element.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/beside.h"
#include "base/deflate.h"
#include "report/writers/page_view.h"
#include "report/writers/writers.h"
#include "text/plain_text.h"

namespace assay {

// web/dist/report.html and web/dist/charts.js (CMakeLists.txt).
std::string_view page_template();
std::string_view page_charts();

namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  for (size_t i = 0, to = 0; i < bytes.size(); i += 3, to += 4) {
    const size_t left = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < left; ++k) {
      group |= uint32_t{static_cast<uint8_t>(bytes[i + k])} << (16 - 8 * k);
    }
    for (size_t k = 0; k <= left; ++k) out[to + k] = kDigits[group >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string page_title(const Document& document) {
  std::string title = document.title.empty() ? document.tool.name : document.title;
  if (document.inputs.size() == 1) title += ": " + document.inputs.front().name;
  return escape_markup(title);
}

// The answer for readers who open the file without running its script.
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

constexpr size_t kMostPageBytes = 3'000'000;  // above this limit, some parts lose their sections
constexpr size_t kMostJsonBytes = 2'000'000;  // share of the JSON document, as Base64
constexpr size_t kRestBytes = 200'000;        // reserved for data of all parts: answers, caveats
constexpr size_t kLeastParts = 4;             // number of parts that always keep their sections

std::string packed(std::string_view text) { return base64(gzip(text)); }

std::string data_element(const std::string& id, const std::string& text) {
  return fmt::format("<script type=\"application/gzip\" id=\"{}\">{}</script>\n", id, text);
}

// Sections and timelines of parts, as separate elements that are decompressed on request.
class PartElements {
 public:
  explicit PartElements(size_t room) : room_(room) {}

  bool take(const Part& part, size_t place, const std::string& rooms) {
    std::string elements = data_element(fmt::format("assay-part-{}", place), packed(rooms));
    if (!part.lanes.empty()) {
      elements += data_element(fmt::format("assay-lanes-{}", place), packed(part.lanes));
    }
    if (taken_ >= kLeastParts && text_.size() + elements.size() > room_) return false;
    if (!part.lane_details.empty()) {
      const std::string details =
          data_element(fmt::format("assay-details-{}", place), packed(part.lane_details));
      if (text_.size() + elements.size() + details.size() <= room_) elements += details;
    }
    ++taken_;
    text_ += elements;
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  size_t room_;
  size_t taken_ = 0;
  std::string text_;
};

}  // namespace

std::string write_html(const Document& document, bool in_thread) {
  Beside<std::string> packing(
      [&document](const std::atomic<bool>&) { return packed(write_json(document)); }, in_thread);
  const std::string charts = packed(page_charts());
  const std::string lanes = document.lanes.empty() ? "" : packed(document.lanes);
  // Parts use the space left by the JSON document; without parts, its result is awaited last.
  const bool several = !document.parts.empty();
  const std::string details = data_element(
      "assay-details", document.lane_details.empty() ? "" : packed(document.lane_details));
  std::string json = several ? packing.take() : "";
  if (json.size() > kMostJsonBytes) json.clear();
  const size_t used =
      page_template().size() + charts.size() + lanes.size() + details.size() + json.size();
  PartElements parts(kMostPageBytes - std::min(kMostPageBytes, used + kRestBytes));
  const PageView view = page_view(
      document,
      [&](size_t place, const std::string& rooms) {
        return parts.take(document.parts[place], place, rooms);
      },
      !several || !json.empty());
  if (!several) json = packing.take();
  const std::pair<std::string_view, std::string> fills[] = {
      {"@@assay-title@@", page_title(document)},
      {"@@assay-summary@@", summary(document)},
      {"@@assay-head@@", packed(view.head)},
      {"@@assay-lanes@@", lanes},
      {"@@assay-view@@", packed(view.rest)},
      {"@@assay-parts@@", details + parts.text()},
      {"@@assay-charts@@", charts},
      {"@@assay-json@@", json}};
  std::string_view rest = page_template();
  std::string out;
  for (const auto& [marker, content] : fills) {
    const size_t at = rest.find(marker);
    if (at == std::string_view::npos) continue;  // a test checks that every marker exists
    out += rest.substr(0, at);
    out += content;
    rest.remove_prefix(at + marker.size());
  }
  out += rest;
  return out;
}

}  // namespace assay
