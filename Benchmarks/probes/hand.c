// Hands in pushes and orders, one per line of standard input, and says on standard output when: "BEFORE AFTER", two
// instants of CLOCK_MONOTONIC in nanoseconds, the first taken right before the first byte leaves.
//
//   hand HOST:PORT CERTIFICATE.pem TOKEN APP
//
//   bare                 the peer: Notify straight to the notification server; AFTER is when the answer was there
//   tls ID [SOUND]       a push that rings: legacy binary protocol over TLS
//   bus ID [SOUND]       the same over D-Bus
//   cancel ID            a cancel push over TLS
//   call METHOD          a method of org.ringd.CallController1, for the only candidate
//   start NAME           StartServiceByName; AFTER is when the bus said that the name is owned
//   history LIMIT        org.ringd.Monitor1.History
//   flood COUNT BYTES    cancels of calls that are none, over TLS, each with a payload of BYTES
#include <dbus/dbus.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static DBusConnection *bus;
static SSL *tls;
static unsigned char token[32];
static const char *app;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "hand: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static void open_tls(const char *address, const char *certificate) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_use_certificate_file(context, certificate, SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context, certificate, SSL_FILETYPE_PEM);
    BIO *socket = BIO_new_connect(address);
    if (BIO_do_connect(socket) != 1) fail("the gateway is not reached");
    int fd = BIO_get_fd(socket, NULL);
    BIO_set_tcp_ndelay(fd, 1);
    tls = SSL_new(context);
    SSL_set_bio(tls, socket, socket);
    if (SSL_connect(tls) != 1) fail("no TLS");
}

static size_t frame(unsigned char *out, const char *payload, size_t size) {
    out[0] = 0, out[1] = 0, out[2] = 32;
    memcpy(out + 3, token, 32);
    out[35] = size >> 8, out[36] = size & 255;
    memcpy(out + 37, payload, size);
    return 37 + size;
}

static void push_tls(const char *payload) {
    unsigned char bytes[8192];
    size_t size = frame(bytes, payload, strlen(payload));
    long long before = now();
    if (SSL_write(tls, bytes, (int)size) <= 0) fail("the gateway cut the line");
    printf("%lld %lld\n", before, now());
}

static void ask(DBusMessage *call) {
    DBusError error;
    dbus_error_init(&error);
    long long before = now();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, 5000, &error);
    long long after = now();
    dbus_message_unref(call);
    if (!reply) fail(error.message);
    dbus_message_unref(reply);
    printf("%lld %lld\n", before, after);
}

static DBusMessage *to_ringd(const char *interface, const char *method) {
    return dbus_message_new_method_call("org.ringd.Ringd1", "/org/ringd/Ringd1", interface, method);
}

static void push_bus(const char *payload) {
    DBusMessage *call = to_ringd("org.ringd.Monitor1", "Push");
    DBusMessageIter arguments, options;
    dbus_message_append_args(call, DBUS_TYPE_STRING, &app, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &payload,
        (int)strlen(payload), DBUS_TYPE_INVALID);
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_close_container(&arguments, &options);
    ask(call);
}

static void option(DBusMessageIter *hints, const char *key, int type, const char *signature, const void *value) {
    DBusMessageIter entry, variant;
    dbus_message_iter_open_container(hints, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, signature, &variant);
    dbus_message_iter_append_basic(&variant, type, value);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(hints, &entry);
}

static void bare(void) {
    DBusMessage *call = dbus_message_new_method_call("org.freedesktop.Notifications", "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications", "Notify");
    const char *name = "bare", *icon = "call-start", *body = "Incoming call";
    const char *words[] = {"default", "Open", "answer", "Answer", "decline", "Decline"}, **actions = words;
    const char *category = "call.incoming";
    unsigned char urgency = 2;
    dbus_bool_t yes = TRUE;
    dbus_uint32_t replaces = 0;
    dbus_int32_t timeout = 0;
    DBusMessageIter arguments, hints;
    dbus_message_append_args(call, DBUS_TYPE_STRING, &name, DBUS_TYPE_UINT32, &replaces, DBUS_TYPE_STRING, &icon,
        DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &body, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &actions, 6,
        DBUS_TYPE_INVALID);
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &hints);
    option(&hints, "urgency", DBUS_TYPE_BYTE, "y", &urgency);
    option(&hints, "category", DBUS_TYPE_STRING, "s", &category);
    option(&hints, "suppress-sound", DBUS_TYPE_BOOLEAN, "b", &yes);
    dbus_message_iter_close_container(&arguments, &hints);
    dbus_message_iter_append_basic(&arguments, DBUS_TYPE_INT32, &timeout);
    ask(call);
}

static void start(const char *name) {
    dbus_uint32_t flags = 0;
    DBusMessage *call = dbus_message_new_method_call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName");
    dbus_message_append_args(call, DBUS_TYPE_STRING, &name, DBUS_TYPE_UINT32, &flags, DBUS_TYPE_INVALID);
    ask(call);
}

static void history(dbus_int32_t limit) {
    DBusMessage *call = to_ringd("org.ringd.Monitor1", "History");
    DBusMessageIter arguments, filter;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &filter);
    option(&filter, "limit", DBUS_TYPE_INT32, "i", &limit);
    dbus_message_iter_close_container(&arguments, &filter);
    ask(call);
}

static void flood(long count, size_t size) {
    // As many frames to a write as fit: what a busy provider does.
    static unsigned char bytes[16384];
    char payload[5121];
    size_t held = 0;
    long long before = now();
    for (long i = 0; i < count; i++) {
        int used = snprintf(payload, sizeof payload, "{\"callId\":\"none-%ld\",\"cancel\":true,\"fill\":\"", i);
        memset(payload + used, 'x', size - used - 2);
        memcpy(payload + size - 2, "\"}", 2);
        if (held + 37 + size > sizeof bytes) {
            if (SSL_write(tls, bytes, (int)held) <= 0) fail("the gateway cut the line");
            held = 0;
        }
        held += frame(bytes + held, payload, size);
    }
    if (held && SSL_write(tls, bytes, (int)held) <= 0) fail("the gateway cut the line");
    printf("%lld %lld\n", before, now());
}

int main(int argc, char **argv) {
    char line[512], word[64], id[128], sound[128], payload[1024];
    if (argc != 5) fail("usage: hand HOST:PORT CERTIFICATE.pem TOKEN APP");
    for (int i = 0; i < 32; i++)
        if (sscanf(argv[3] + 2 * i, "%2hhx", &token[i]) != 1) fail("the token is not hex");
    app = argv[4];
    bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
    if (!bus) fail("no bus");
    open_tls(argv[1], argv[2]);
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        id[0] = sound[0] = 0;
        if (sscanf(line, "%63s %127s %127s", word, id, sound) < 1) continue;
        snprintf(payload, sizeof payload, "{\"callId\":\"%s\",\"callerName\":\"%s\",\"sound\":\"%s\"}", id, id, sound);
        if (!strcmp(word, "bare")) {
            bare();
        } else if (!strcmp(word, "tls")) {
            push_tls(payload);
        } else if (!strcmp(word, "bus")) {
            push_bus(payload);
        } else if (!strcmp(word, "cancel")) {
            snprintf(payload, sizeof payload, "{\"callId\":\"%s\",\"cancel\":true}", id);
            push_tls(payload);
        } else if (!strcmp(word, "call")) {
            const char *nobody = "";
            DBusMessage *call = to_ringd("org.ringd.CallController1", id);
            dbus_message_append_args(call, DBUS_TYPE_STRING, &nobody, DBUS_TYPE_INVALID);
            ask(call);
        } else if (!strcmp(word, "start")) {
            start(id);
        } else if (!strcmp(word, "history")) {
            history(atoi(id));
        } else if (!strcmp(word, "flood")) {
            flood(atol(id), (size_t)atol(sound));
        } else {
            fail("what?");
        }
        fflush(stdout);
    }
    return 0;
}
