#include "report/section_tax.h"
