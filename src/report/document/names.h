#pragma once

// Names of units and marks in data: the page's JSON and the points of a figure.

#include "report/document/document.h"

namespace assay {

const char* unit_name(Unit unit);
const char* mark_name(Mark mark);

}  // namespace assay
