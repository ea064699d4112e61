#pragma once

// From results of the tax room to sections of a Document.

#include "report/document.h"

namespace assay {}  // namespace assay
