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

// dl_iterate_phdr(3) is a GNU extension, hidden without _GNU_SOURCE, which a module cannot define.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
struct csystemd_object {
    ElfW(Addr) addr;
    const char *name;
    const ElfW(Phdr) *headers;
    ElfW(Half) count;
};
extern int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *data);
static int csystemd_release_object(struct dl_phdr_info *info, size_t size, void *data) {
    const struct csystemd_object *object = (const struct csystemd_object *)info;
    (void)size;
    (void)data;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (int i = 0; i < object->count; i++) {
        const ElfW(Phdr) *h = &object->headers[i];
        // Writable segments hold relocated data, which is nowhere else. The others are the file's own bytes.
        if (h->p_type != PT_LOAD || (h->p_flags & PF_W)) continue;
        uintptr_t from = (object->addr + h->p_vaddr) & ~page;
        uintptr_t to = (object->addr + h->p_vaddr + h->p_memsz + page) & ~page;
        madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}
// Unmaps the code and constants that were touched so far; what is needed again comes back from the page cache.
static inline void csystemd_release_clean_pages(void) { dl_iterate_phdr(csystemd_release_object, NULL); }
