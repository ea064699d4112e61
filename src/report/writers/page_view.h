#pragma once

// The Document as the page reads it: everything that it may show, as JSON (web/src/view.ts has the
// other side of this contract). All text is cleaned; values stay raw and in base units.

#include <cstddef>
#include <functional>
#include <string>

#include "report/document/document.h"

namespace assay {

struct PageView {
  std::string head;  // what stands above the fold: title, inputs, answer, colours
  std::string rest;  // sections, caveats, definitions; for parts, all but their sections
};

// Receives the sections of a part as JSON and returns true if they fit the page. After the first
// false it is not called again.
using TakePart = std::function<bool(size_t place, const std::string& rooms)>;

// Parts are offered in the order of Document::parts_order. holds_json: whether the page has the
// JSON document as well.
PageView page_view(const Document& document, const TakePart& take, bool holds_json = true);

}  // namespace assay
