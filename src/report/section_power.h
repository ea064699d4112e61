#pragma once

// From results of the power room to sections of a Document.

#include "report/document.h"

namespace assay {}  // namespace assay
