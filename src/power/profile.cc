#include "power/profile.h"
