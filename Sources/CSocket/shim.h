// What Swift's Glibc module lacks of sockets.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

// A GNU extension, hidden without _GNU_SOURCE, which a module cannot define. Without it a descriptor would be
// inheritable between accept(2) and fcntl(2).
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
static inline int csocket_accept(int fd) { return accept4(fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }

// The enumerators SOCK_* import as a struct, not as the int that socket(2) takes.
static inline int csocket_stream(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}
