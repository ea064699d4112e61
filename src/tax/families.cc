#include "tax/families.h"
