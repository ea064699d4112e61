#include "cli/interrupt.h"

namespace assay {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  before_ = std::signal(SIGINT, [](int) { interrupted = 1; });
}

StopOnInterrupt::~StopOnInterrupt() { std::signal(SIGINT, before_); }

bool interrupt_asked() { return interrupted != 0; }

}  // namespace assay
