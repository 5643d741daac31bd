/* Makes one kind of system call fail, for the tests of crash safety: loaded with LD_PRELOAD.
 *
 *   FAULT_FOLDER  only what lies below it is concerned
 *   FAULT_CALL    write, open, sync, rename, mkdir
 *   FAULT_ERROR   the number of the error
 *   FAULT_FROM    the first call that fails, from 1; 0: none, they are only counted
 *   FAULT_TO      the last one
 *   FAULT_COUNT   a file that is made longer by a byte for each call
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int open_below(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

/* Is this call to fail? Sets errno then. */
static int fails(const char *call, int concerned) {
    const char *wanted = getenv("FAULT_CALL");
    if (!concerned || !wanted || strcmp(wanted, call) != 0) return 0;
    long at = atomic_fetch_add(&calls, 1) + 1;
    const char *count = getenv("FAULT_COUNT");
    if (count) {
        int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
        ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
        int fd = real_open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd >= 0) {
            if (real_write(fd, ".", 1) != 1) abort();
            close(fd);
        }
    }
    long from = number("FAULT_FROM");
    if (from == 0 || at < from || at > number("FAULT_TO")) return 0;
    errno = (int)number("FAULT_ERROR");
    return 1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(write);
    return fails("write", open_below(fd)) ? -1 : real(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    return fails("write", open_below(fd)) ? -1 : real(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    REAL(pwrite64);
    return fails("write", open_below(fd)) ? -1 : real(fd, bytes, length, at);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    REAL(open64);
    return fails("open", below(path)) ? -1 : real(path, flags, mode);
}

int fsync(int fd) {
    REAL(fsync);
    return fails("sync", open_below(fd)) ? -1 : real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return fails("sync", open_below(fd)) ? -1 : real(fd);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return fails("rename", below(to)) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return fails("mkdir", below(path)) ? -1 : real(path, mode);
}
