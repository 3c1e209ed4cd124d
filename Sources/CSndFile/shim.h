// libsndfile.
#pragma once
#include <sndfile.h>
