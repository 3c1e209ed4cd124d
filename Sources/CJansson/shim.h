// jansson. json_decref is a static inline that imports; the foreach macros do not and are not needed.
#pragma once
#include <jansson.h>
