#include "throughput/method.h"
