// A shared object without any function that Assay wants.
extern "C" int assay_fake_nothing() { return 0; }
