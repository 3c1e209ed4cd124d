// libpulse, asynchronous API.
#pragma once
#include <pulse/pulseaudio.h>
