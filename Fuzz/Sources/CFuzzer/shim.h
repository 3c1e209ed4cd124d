// libFuzzer's own entry. SwiftPM gives each program a main() of its own, so libFuzzer's is not linked and this is called.
#pragma once
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
