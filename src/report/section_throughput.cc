#include "report/section_throughput.h"
