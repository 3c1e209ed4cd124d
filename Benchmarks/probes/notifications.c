// A notification server that does nothing but say when it was called.
//
// Each Notify: "notify NANOSECONDS SUMMARY" on standard output, by CLOCK_MONOTONIC, taken before the call is answered.
// A line of standard input is an action that is chosen on the newest notification: "pressed NANOSECONDS", taken before
// its signal leaves.
#include <dbus/dbus.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static dbus_uint32_t last_id;

static void notify(DBusConnection *bus, DBusMessage *call, long long at) {
    const char *app = "", *icon = "", *summary = "";
    dbus_uint32_t replaces = 0;
    dbus_message_get_args(call, NULL, DBUS_TYPE_STRING, &app, DBUS_TYPE_UINT32, &replaces, DBUS_TYPE_STRING, &icon,
        DBUS_TYPE_STRING, &summary, DBUS_TYPE_INVALID);
    dbus_uint32_t id = replaces ? replaces : ++last_id;
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_message_append_args(reply, DBUS_TYPE_UINT32, &id, DBUS_TYPE_INVALID);
    dbus_connection_send(bus, reply, NULL);
    dbus_connection_flush(bus);
    dbus_message_unref(reply);
    printf("notify %lld %s\n", at, summary);
    fflush(stdout);
}

static void closed(DBusConnection *bus, DBusMessage *call) {
    dbus_uint32_t id = 0, reason = 3;
    dbus_message_get_args(call, NULL, DBUS_TYPE_UINT32, &id, DBUS_TYPE_INVALID);
    DBusMessage *reply = dbus_message_new_method_return(call);
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
    DBusMessage *signal = dbus_message_new_signal(
        "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "NotificationClosed");
    dbus_message_append_args(signal, DBUS_TYPE_UINT32, &id, DBUS_TYPE_UINT32, &reason, DBUS_TYPE_INVALID);
    dbus_connection_send(bus, signal, NULL);
    dbus_message_unref(signal);
}

static void press(DBusConnection *bus) {
    char line[64];
    const char *action = line;
    if (!fgets(line, sizeof line, stdin)) exit(0);
    line[strcspn(line, "\n")] = 0;
    DBusMessage *signal = dbus_message_new_signal(
        "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActionInvoked");
    dbus_message_append_args(signal, DBUS_TYPE_UINT32, &last_id, DBUS_TYPE_STRING, &action, DBUS_TYPE_INVALID);
    long long before = now();
    dbus_connection_send(bus, signal, NULL);
    dbus_connection_flush(bus);
    dbus_message_unref(signal);
    printf("pressed %lld\n", before);
    fflush(stdout);
}

static DBusHandlerResult filter(DBusConnection *bus, DBusMessage *message, void *unused) {
    long long at = now();
    (void)unused;
    if (dbus_message_is_method_call(message, "org.freedesktop.Notifications", "Notify")) {
        notify(bus, message, at);
    } else if (dbus_message_is_method_call(message, "org.freedesktop.Notifications", "CloseNotification")) {
        closed(bus, message);
    } else if (dbus_message_is_method_call(message, "org.freedesktop.Notifications", "GetCapabilities")) {
        const char *words[] = {"actions", "body", "persistence"}, **list = words;
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_message_append_args(reply, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &list, 3, DBUS_TYPE_INVALID);
        dbus_connection_send(bus, reply, NULL);
        dbus_message_unref(reply);
    } else if (dbus_message_is_method_call(message, "org.freedesktop.Notifications", "GetServerInformation")) {
        const char *name = "probe", *version = "1", *spec = "1.2";
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_message_append_args(reply, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &version,
            DBUS_TYPE_STRING, &spec, DBUS_TYPE_INVALID);
        dbus_connection_send(bus, reply, NULL);
        dbus_message_unref(reply);
    } else {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(void) {
    DBusConnection *bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
    if (!bus || !dbus_connection_add_filter(bus, filter, NULL, NULL)
        || dbus_bus_request_name(bus, "org.freedesktop.Notifications", DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL)
            != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) {
        fprintf(stderr, "notifications: no bus, or another server has the name\n");
        return 1;
    }
    printf("ready\n");
    fflush(stdout);
    struct pollfd ready[] = {{.fd = 0, .events = POLLIN}, {.events = POLLIN}};
    dbus_connection_get_unix_fd(bus, &ready[1].fd);
    while (poll(ready, 2, -1) > 0) {
        if (ready[1].revents && !dbus_connection_read_write(bus, 0)) break;
        while (dbus_connection_dispatch(bus) == DBUS_DISPATCH_DATA_REMAINS) continue;
        if (ready[0].revents) press(bus);
    }
    return 0;
}
