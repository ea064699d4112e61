#include "report/section_power.h"
