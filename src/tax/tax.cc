#include "tax/tax.h"
