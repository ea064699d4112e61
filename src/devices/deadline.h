#pragma once

// A wrapper that makes a device fail after a deadline, so that a slow sensor cannot prolong a
// measurement without limit.

#include <memory>

#include "devices/device.h"

namespace assay {

// The deadline is budget_ns from now, on the device's own clock. After it, prepare, probe,
// start_logging and execute fail; wait_ns fails if it would end after it. A call that has started
// is not interrupted. Logged samples, energy, facts and truth stay available.
std::unique_ptr<PowerDevice> with_deadline(std::unique_ptr<PowerDevice> device, int64_t budget_ns);

}  // namespace assay
