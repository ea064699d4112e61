"""A Python program that uses a GPU through ctypes, for the recorder to be loaded into: launches, then children by
multiprocessing's ways of starting them, then an exit code of its own.

    recorded_program.py LAUNCHES [fork|spawn CHILD_LAUNCHES] EXIT_CODE
"""

import ctypes
import multiprocessing
import sys


def launch(count):
    cuda = ctypes.CDLL("libcuda.so.1")
    if cuda.cuInit(0) != 0:
        raise RuntimeError("no driver")
    function = ctypes.c_void_p()
    cuda.cuModuleGetFunction(ctypes.byref(function), None, b"saxpy")
    for _ in range(count):
        if cuda.cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, None, None, None) != 0:
            raise RuntimeError("launch")


def main():
    launches, code = int(sys.argv[1]), int(sys.argv[-1])
    if len(sys.argv) > 3:
        child = multiprocessing.get_context(sys.argv[2]).Process(target=launch, args=(int(sys.argv[3]),))
        child.start()
        child.join()
        if child.exitcode != 0:
            sys.exit(99)
    if launches > 0:
        launch(launches)
    sys.exit(code)


if __name__ == "__main__":
    main()
