// The library that owns the precompiled headers of all tests (tests/CMakeLists.txt) needs a file.
