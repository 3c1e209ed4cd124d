// GNU libmicrohttpd 0.9.71 or newer, loaded when it is needed: it and the GnuTLS below it are pages and start-up time that
// nobody without webhooks is to pay for. The header is used for types; nothing of it is linked.
#pragma once
#include <dlfcn.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

// The functions that are used, as the library has them.
#define CMICROHTTP_FUNCTIONS(each)                                                                                     \
    each(MHD_start_daemon) each(MHD_stop_daemon) each(MHD_run) each(MHD_get_timeout) each(MHD_get_daemon_info)         \
        each(MHD_add_connection) each(MHD_get_connection_info) each(MHD_lookup_connection_value_n)                     \
            each(MHD_create_response_from_buffer) each(MHD_add_response_header) each(MHD_queue_response)               \
                each(MHD_destroy_response)

typedef struct {
#define CMICROHTTP_MEMBER(name) __typeof__(&name) name;
    CMICROHTTP_FUNCTIONS(CMICROHTTP_MEMBER)
#undef CMICROHTTP_MEMBER
} cmicrohttp_table;

// Fills the table; NULL, or what the dynamic linker complains of. The library stays loaded: GnuTLS is not made to leave.
static inline const char *cmicrohttp_load(cmicrohttp_table *table, const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
#define CMICROHTTP_FIND(name)                                                                                          \
    table->name = (__typeof__(&name))dlsym(library, #name);                                                            \
    if (!table->name) return "it has no " #name;
    CMICROHTTP_FUNCTIONS(CMICROHTTP_FIND)
#undef CMICROHTTP_FIND
    return NULL;
}

typedef struct {
    unsigned int connections;
    size_t memory;
    const char *certificate;
    const char *key;
    void *context;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    enum MHD_Result (*request)(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *data, size_t *size, void **exchange);
    void (*completed)(void *context, struct MHD_Connection *connection, void **exchange,
                      enum MHD_RequestTerminationCode how);
    void (*connected)(void *context, struct MHD_Connection *connection, void **guest,
                      enum MHD_ConnectionNotificationCode what);
} cmicrohttp_settings;

// How these enumerations import depends on the compiler's attributes.
static inline enum MHD_Result cmicrohttp_result(int is_good) { return is_good ? MHD_YES : MHD_NO; }
static inline int cmicrohttp_is_closed(enum MHD_ConnectionNotificationCode what) {
    return what == MHD_CONNECTION_NOTIFY_CLOSED;
}

// An unescaper that leaves everything as it is.
static inline size_t cmicrohttp_as_it_came(void *context, struct MHD_Connection *connection, char *text) {
    return strlen(text);
}

// A daemon without threads and without a listening socket of its own. MHD_start_daemon() is variadic.
static inline struct MHD_Daemon *cmicrohttp_start(const cmicrohttp_table *table, const cmicrohttp_settings *settings) {
    struct MHD_OptionItem none = {MHD_OPTION_END, 0, NULL};
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)settings->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)settings->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        none,
    };
    unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | (settings->certificate ? MHD_USE_TLS : 0);
    return table->MHD_start_daemon(
        flags, 0, NULL, NULL, settings->request, settings->context,
        // Bounds: connections, and what each may take for its request line, headers and a piece of its body.
        MHD_OPTION_CONNECTION_LIMIT, settings->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024,
        // Our own clock ends connections: the library's begins anew with each byte.
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        // The target as it came: decoded by the library, %2F would be a slash and %00 its end.
        MHD_OPTION_UNESCAPE_CALLBACK, cmicrohttp_as_it_came, NULL, MHD_OPTION_URI_LOG_CALLBACK,
        settings->target, settings->context, MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
        MHD_OPTION_NOTIFY_CONNECTION, settings->connected, settings->context, MHD_OPTION_ARRAY,
        settings->certificate ? tls : &none, MHD_OPTION_END);
}

static inline void cmicrohttp_stop(const cmicrohttp_table *table, struct MHD_Daemon *daemon) {
    table->MHD_stop_daemon(daemon);
}

// Does what there is to do, and does not wait.
static inline int cmicrohttp_run(const cmicrohttp_table *table, struct MHD_Daemon *daemon) {
    return table->MHD_run(daemon) == MHD_YES;
}

// How many milliseconds until it has something to do by itself; negative: it has not.
static inline int64_t cmicrohttp_timeout(const cmicrohttp_table *table, struct MHD_Daemon *daemon) {
    // unsigned long long in 0.9, uint64_t later.
    unsigned long long milliseconds = 0;
    if (table->MHD_get_timeout(daemon, (void *)&milliseconds) != MHD_YES) return -1;
    return milliseconds > 3600000 ? 3600000 : (int64_t)milliseconds;
}

// Variadic; the descriptor is the library's.
static inline int cmicrohttp_epoll(const cmicrohttp_table *table, struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = table->MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

// The descriptor is the library's from now on, whatever comes back.
static inline int cmicrohttp_add(const cmicrohttp_table *table, struct MHD_Daemon *daemon, int fd,
                                 const struct sockaddr *address, socklen_t length) {
    return table->MHD_add_connection(daemon, fd, address, length) == MHD_YES;
}

static inline int cmicrohttp_descriptor(const cmicrohttp_table *table, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = table->MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// The first header of that name, borrowed for the time of the callback; NULL if there is none.
static inline const char *cmicrohttp_header(const cmicrohttp_table *table, struct MHD_Connection *connection,
                                            const char *name, size_t name_size, size_t *size) {
    const char *value = NULL;
    if (table->MHD_lookup_connection_value_n(connection, MHD_HEADER_KIND, name, name_size, &value, size) != MHD_YES) {
        return NULL;
    }
    return value;
}

// Answers with a copy of the body and a header more; closes says that the connection is to end with it.
static inline int cmicrohttp_answer(const cmicrohttp_table *table, struct MHD_Connection *connection, unsigned int status,
                                    const void *body, size_t size, const char *name, const char *value, int closes) {
    struct MHD_Response *response =
        table->MHD_create_response_from_buffer(size, (void *)body, MHD_RESPMEM_MUST_COPY);
    if (!response) return 0;
    int done = table->MHD_add_response_header(response, "Content-Type", "application/json") == MHD_YES;
    if (name) done = done && table->MHD_add_response_header(response, name, value) == MHD_YES;
    if (closes) done = done && table->MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    done = done && table->MHD_queue_response(connection, status, response) == MHD_YES;
    table->MHD_destroy_response(response);
    return done;
}
