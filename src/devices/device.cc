#include "devices/device.h"
