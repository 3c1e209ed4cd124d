// nghttp2 1.52.
#pragma once
#include <nghttp2/nghttp2.h>
