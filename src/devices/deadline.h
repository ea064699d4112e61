#pragma once

// A device that stops working at a deadline: what drives it ends in an error instead of taking as
// long as a slow sensor likes.

#include <memory>

#include "devices/device.h"

namespace assay {

// Every call that takes time fails if it would end more than budget_ns from now, on the device's
// own clock; the error says that the time is up. Prepared and known values stay available.
std::unique_ptr<PowerDevice> with_deadline(std::unique_ptr<PowerDevice> device, int64_t budget_ns);

}  // namespace assay
