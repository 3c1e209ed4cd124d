// libdbus-1. Its DBUS_TYPE_* are casted character constants, which do not import; iterators take plain Int32.
#pragma once
#include <dbus/dbus.h>
