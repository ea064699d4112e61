#pragma once

// From results of the throughput room to sections of a Document.

#include "report/document.h"

namespace assay {}  // namespace assay
