// A machine that refuses memfd_create, as filters of system calls do.

#include <cerrno>

extern "C" int memfd_create(const char*, unsigned) {
  errno = EPERM;
  return -1;
}
