/* Makes one call of a program fail, to be loaded with LD_PRELOAD. `faults.py` builds and uses it.
 *
 * FAULT_CALL  write, open, rename, sync or count
 * FAULT_AT    which of these calls fails, from 1
 * FAULT_KIND  the errno as a number; `short` writes half; `kill` ends the process
 * FAULT_LOG   with FAULT_CALL=count: the numbers of calls are written to this file at the end
 *
 * Standard streams are not counted, nor is what is opened to be read.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE, OPEN, RENAME, SYNC, KINDS };
static const char *names[KINDS] = {"write", "open", "rename", "sync"};
static long counts[KINDS];

static long number(const char *name) { const char *text = getenv(name); return text ? atol(text) : 0; }

/* 0: goes on; 1: fails with errno; 2: writes half. */
static int fault(int call) {
    long at = __sync_add_and_fetch(&counts[call], 1);
    const char *wanted = getenv("FAULT_CALL"), *kind = getenv("FAULT_KIND");
    if (!wanted || !kind || strcmp(wanted, names[call]) || at != number("FAULT_AT")) return 0;
    if (!strcmp(kind, "kill")) raise(SIGKILL);
    if (!strcmp(kind, "short")) return 2;
    errno = atoi(kind);
    return 1;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAULT_LOG");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int call = 0; call < KINDS; call++) fprintf(file, "%s %ld\n", names[call], counts[call]);
    fclose(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    int what = fd > 2 ? fault(WRITE) : 0;
    if (what == 1) return -1;
    return REAL(write)(fd, data, what == 2 && size > 1 ? size / 2 : size);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    int what = fd > 2 ? fault(WRITE) : 0;
    if (what == 1) return -1;
    return REAL(writev)(fd, parts, what == 2 && count > 1 ? count / 2 : count);
}
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *at_to, size_t size, unsigned flags) {
    int what = fault(WRITE);
    if (what == 1) return -1;
    return REAL(copy_file_range)(from, at, to, at_to, what == 2 && size > 1 ? size / 2 : size, flags);
}

#define OPENED(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
        va_end(rest); \
        if ((flags & O_ACCMODE) != O_RDONLY && fault(OPEN)) return -1; \
        return REAL(name)(path, flags, mode); \
    }
OPENED(open)
OPENED(open64)

int rename(const char *from, const char *to) { return fault(RENAME) ? -1 : REAL(rename)(from, to); }
int fsync(int fd) { return fault(SYNC) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fault(SYNC) ? -1 : REAL(fdatasync)(fd); }
