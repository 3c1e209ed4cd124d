// libsystemd (sd-event, sd-daemon, sd-journal) and the Linux calls that Swift's Glibc module lacks.
#pragma once
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

static inline int csystemd_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// EPOLL* are an anonymous enum in C++ clothes: plain numbers import everywhere.
static const uint32_t csystemd_epollin = EPOLLIN;
static const uint32_t csystemd_epollout = EPOLLOUT;
static const uint32_t csystemd_epollhup = EPOLLHUP;
static const uint32_t csystemd_epollerr = EPOLLERR;

// Block `signo` in the calling thread, as sd_event_add_signal() wants it.
static inline int csystemd_block_signal(int signo) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// WEXITED, and siginfo's fields, which are macros over a union.
#include <sys/wait.h>
static const int csystemd_wexited = WEXITED;
static inline int csystemd_si_status(const siginfo_t *info) { return info->si_status; }
static inline int csystemd_si_exited(const siginfo_t *info) { return info->si_code == CLD_EXITED; }

// Variadic, so not importable: the calling thread's name as ps(1) and top(1) show it.
#include <sys/prctl.h>
static inline void csystemd_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
