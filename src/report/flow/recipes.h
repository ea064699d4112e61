#pragma once

// What a lever is called on the first screen, and the line of code or the hint under it, in the
// words of the program.

#include "report/document/short_answer.h"
#include "report/flow/section.h"

namespace assay {

AnswerLever recipe_card(const FlowAnswer& answer, const Lever& lever);

}  // namespace assay
