#pragma once

// The Document as JSON for the page (web/src/view.ts is the other side of this contract):
// everything that the page may show. All text is cleaned; values are raw and in base units.

#include <cstddef>
#include <functional>
#include <string>

#include "report/document/document.h"

namespace assay {

struct PageView {
  std::string head;  // content above the fold: title, inputs, answer, colours
  std::string rest;  // sections, caveats, definitions; of parts, everything but sections
};

// Receives the sections of one part as JSON; returns true if they fit on the page. Not called again
// after returning false.
using TakePart = std::function<bool(size_t place, const std::string& rooms)>;

// Parts are offered in the order of Document::parts_order. holds_json: the page also contains the
// JSON document.
PageView page_view(const Document& document, const TakePart& take, bool holds_json = true);

}  // namespace assay
