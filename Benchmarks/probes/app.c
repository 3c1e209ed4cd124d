// An app that takes calls over D-Bus: owns its id as a bus name, registers for pushes and calls, and fulfils every
// action at once.
//
//   app ID [LINES [COUNT CONNECTIONS]]
//
// LINES is a file to write to, or - for standard output. With COUNT it is ID.n1 to ID.nCOUNT, spread over so many
// connections. Instants are of CLOCK_MONOTONIC in nanoseconds.
//
//   owned NANOSECONDS PID         its name is its own
//   ready                         and it has registered
//   perform NANOSECONDS METHOD    an action arrived; said after it was fulfilled
//
// Orders, one per line of standard input; each is answered with "BEFORE AFTER", of which the second is when the reply
// was there:
//
//   report CALL CALLER            ReportNewIncomingCall
//   end CALL                      ReportCallEnded: the remote side did
#include <dbus/dbus.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH "/org/ringd/bench/App"

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "app: %s\n", what);
    exit(1);
}

static DBusMessage *to_ringd(const char *interface, const char *method) {
    return dbus_message_new_method_call("org.ringd.Ringd1", "/org/ringd/Ringd1", interface, method);
}

static void options(DBusMessage *call, DBusMessageIter *arguments, DBusMessageIter *entries) {
    dbus_message_iter_init_append(call, arguments);
    dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{sv}", entries);
}

static void option(DBusMessageIter *entries, const char *key, const char *text) {
    DBusMessageIter entry, variant;
    dbus_message_iter_open_container(entries, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "s", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_STRING, &text);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(entries, &entry);
}

// When the reply was there. Whoever asks too often is told so, and asks again.
static long long ask(DBusConnection *bus, DBusMessage *call) {
    while (1) {
        DBusError error;
        dbus_error_init(&error);
        DBusMessage *copy = dbus_message_copy(call);
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, copy, 10000, &error);
        long long after = now();
        dbus_message_unref(copy);
        if (reply) {
            dbus_message_unref(reply);
            dbus_message_unref(call);
            return after;
        }
        if (!dbus_error_has_name(&error, DBUS_ERROR_LIMITS_EXCEEDED)) fail(error.message);
        dbus_error_free(&error);
        usleep(100000);
    }
}

static void register_app(DBusConnection *bus, const char *id) {
    const char *path = PATH;
    DBusMessageIter arguments, entries;
    for (int i = 0; i < 2; i++) {
        DBusMessage *call = to_ringd(i ? "org.ringd.CallProvider1" : "org.ringd.PushRegistry1", "Register");
        dbus_message_append_args(
            call, DBUS_TYPE_STRING, &id, DBUS_TYPE_OBJECT_PATH, &path, DBUS_TYPE_INVALID);
        options(call, &arguments, &entries);
        if (i)
            option(&entries, "localized-name", id);
        else
            option(&entries, "account", "alice");
        dbus_message_iter_close_container(&arguments, &entries);
        ask(bus, call);
    }
}

static void mark_uploaded(DBusConnection *bus, const char *id) {
    const char *type = "voip", *device = "bench";
    DBusMessage *call = to_ringd("org.ringd.PushRegistry1", "MarkUploaded");
    dbus_message_append_args(
        call, DBUS_TYPE_STRING, &id, DBUS_TYPE_STRING, &type, DBUS_TYPE_STRING, &device, DBUS_TYPE_INVALID);
    ask(bus, call);
}

static void perform(DBusConnection *bus, DBusMessage *message, long long at) {
    const char *action = NULL;
    DBusMessageIter arguments, entries;
    dbus_message_get_args(message, NULL, DBUS_TYPE_STRING, &action, DBUS_TYPE_INVALID);
    DBusMessage *call = to_ringd("org.ringd.CallProvider1", "FulfillAction");
    dbus_message_append_args(call, DBUS_TYPE_STRING, &action, DBUS_TYPE_INVALID);
    options(call, &arguments, &entries);
    dbus_message_iter_close_container(&arguments, &entries);
    dbus_message_set_no_reply(call, TRUE);
    dbus_connection_send(bus, call, NULL);
    dbus_connection_flush(bus);
    dbus_message_unref(call);
    printf("perform %lld %s\n", at, dbus_message_get_member(message));
    fflush(stdout);
}

static DBusHandlerResult filter(DBusConnection *bus, DBusMessage *message, void *unused) {
    long long at = now();
    (void)unused;
    if (dbus_message_get_type(message) != DBUS_MESSAGE_TYPE_METHOD_CALL || !dbus_message_has_path(message, PATH))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    if (!dbus_message_get_no_reply(message)) {
        DBusMessage *reply = dbus_message_new_method_return(message);
        dbus_connection_send(bus, reply, NULL);
        dbus_message_unref(reply);
    }
    if (!strncmp(dbus_message_get_member(message), "Perform", 7)) perform(bus, message, at);
    return DBUS_HANDLER_RESULT_HANDLED;
}

static void order(DBusConnection *bus, const char *id) {
    char line[512], word[64], call_id[64], caller[128];
    const char *call_text = call_id;
    DBusMessageIter arguments, entries;
    dbus_uint32_t remote_ended = 2;
    if (!fgets(line, sizeof line, stdin)) exit(0);
    call_id[0] = caller[0] = 0;
    if (sscanf(line, "%63s %63s %127s", word, call_id, caller) < 2) fail("what?");
    int is_report = !strcmp(word, "report");
    DBusMessage *call =
        to_ringd("org.ringd.CallProvider1", is_report ? "ReportNewIncomingCall" : "ReportCallEnded");
    if (is_report)
        dbus_message_append_args(call, DBUS_TYPE_STRING, &id, DBUS_TYPE_STRING, &call_text, DBUS_TYPE_INVALID);
    else
        dbus_message_append_args(
            call, DBUS_TYPE_STRING, &call_text, DBUS_TYPE_UINT32, &remote_ended, DBUS_TYPE_INVALID);
    options(call, &arguments, &entries);
    if (is_report) option(&entries, "caller", caller);
    dbus_message_iter_close_container(&arguments, &entries);
    long long before = now();
    printf("%lld %lld\n", before, ask(bus, call));
    fflush(stdout);
}

int main(int argc, char **argv) {
    int count = argc > 4 ? atoi(argv[3]) : 1, connections = argc > 4 ? atoi(argv[4]) : 1;
    if (argc < 2 || count < 1 || connections < 1 || connections > 256)
        fail("usage: app ID [LINES [COUNT CONNECTIONS]]");
    if (argc > 2 && strcmp(argv[2], "-") && !freopen(argv[2], "a", stdout)) fail("the file is not to be had");
    struct pollfd ready[257];
    DBusConnection *buses[256];
    ready[0] = (struct pollfd){.fd = argc > 2 && strcmp(argv[2], "-") ? -1 : 0, .events = POLLIN};
    for (int i = 0; i < connections; i++) {
        if (!(buses[i] = dbus_bus_get_private(DBUS_BUS_SESSION, NULL))) fail("no bus");
        ready[i + 1] = (struct pollfd){.events = POLLIN};
        dbus_connection_get_unix_fd(buses[i], &ready[i + 1].fd);
        dbus_connection_add_filter(buses[i], filter, NULL, NULL);
    }
    for (int i = 0; i < count; i++) {
        char id[256];
        DBusConnection *bus = buses[i % connections];
        snprintf(id, sizeof id, argc > 4 ? "%s.n%d" : "%s", argv[1], i + 1);
        if (dbus_bus_request_name(bus, id, DBUS_NAME_FLAG_DO_NOT_QUEUE, NULL) != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER)
            fail("the name is not to be had");
        if (count == 1) {
            printf("owned %lld %d\n", now(), getpid());
            fflush(stdout);
        }
        register_app(bus, id);
        while (dbus_connection_dispatch(bus) == DBUS_DISPATCH_DATA_REMAINS) continue;
        // One that starts anew has done that before.
        if (count > 1) mark_uploaded(bus, id);
    }
    printf("ready\n");
    fflush(stdout);
    while (poll(ready, connections + 1, -1) > 0) {
        for (int i = 0; i < connections; i++) {
            if (ready[i + 1].revents && !dbus_connection_read_write(buses[i], 0)) return 0;
            while (dbus_connection_dispatch(buses[i]) == DBUS_DISPATCH_DATA_REMAINS) continue;
        }
        if (ready[0].revents) {
            order(buses[0], argv[1]);
            while (dbus_connection_dispatch(buses[0]) == DBUS_DISPATCH_DATA_REMAINS) continue;
        }
    }
    return 0;
}
