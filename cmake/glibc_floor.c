/* Linked into what a release ships, and into nothing else: the newest names that the compiler's own libraries ask
 * of the C library, by way of older ones. The program then starts wherever glibc is 2.34 or newer, whatever it was
 * built on. tools/check_release.py holds that to be so.
 *
 *   arc4random  glibc 2.36, asked for by std::random_device: the kernel's own, there since 2.25
 *   hypot       2.35 is the version that sets no errno: the first one computes the same value
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#define ASSAY_OWN __attribute__((visibility("hidden")))

ASSAY_OWN uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) {
  }
  return value;
}

#ifdef __x86_64__
double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.2.5");
#else
double first_hypot(double x, double y);
__asm__(".symver first_hypot, hypot@GLIBC_2.17");
#endif
ASSAY_OWN double hypot(double x, double y) { return first_hypot(x, y); }
