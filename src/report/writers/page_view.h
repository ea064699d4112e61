#pragma once

// The Document as the page reads it: everything that it may show, as JSON (web/src/view.ts has the
// other side of this contract). All text is cleaned; values stay raw and in base units.

#include <string>

#include "report/document/document.h"

namespace assay {

std::string page_view_json(const Document& document);

}  // namespace assay
