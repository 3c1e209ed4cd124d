#pragma once

#include <stddef.h>

/// A dialect file that was built in: its name, and its text, which is not terminated.
struct ringd_dialect {
    const char *name;
    const unsigned char *text;
    size_t size;
};

/// All of them, in the order of their names; the last has no name. It lives as long as the program.
const struct ringd_dialect *ringd_dialects(void);
