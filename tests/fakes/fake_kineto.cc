// Stands for the library of PyTorch that has its profiler inside (libtorch_cpu.so): what tells it.

extern "C" void libkineto_init(bool, bool) {}
