/* A library to preload: it makes calls fail, and records what reaches the disk.

   It looks at the files whose path begins with FAULT_PATH. FAULT_CONTROL names a file that holds a
   struct control, mapped by this library and by the program under test. FAULT_LOG names a file that
   gets a record of each write, sync, truncation and removal. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 4, MAP = 8, ALLOCATE = 16 };

/* Must agree with tests/faults/preload.py. */
struct control {
    uint64_t kinds;   /* which calls are counted */
    uint64_t fail_at; /* the call that fails, from 1; 0 for none */
    uint64_t error;   /* errno of the call that fails */
    uint64_t sticky;  /* whether all later ones fail, too */
    uint64_t calls;   /* counted so far */
    uint64_t failed;  /* failed so far */
};

static struct control *control;
static const char *watched;
static int log_file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t sqlite_begin, sqlite_end;

static int find_sqlite(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    if (strstr(info->dlpi_name, "sqlite3") == NULL)
        return 0;
    for (int at = 0; at < info->dlpi_phnum; at++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[at];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            uintptr_t begin = info->dlpi_addr + part->p_vaddr;
            /* The library itself, not the module of Python that calls it. */
            if (part->p_memsz > sqlite_end - sqlite_begin) {
                sqlite_begin = begin;
                sqlite_end = begin + part->p_memsz;
            }
        }
    }
    return 0;
}

/* To be called once SQLite is loaded. */
void fault_begin(void) {
    const char *path = getenv("FAULT_CONTROL");
    const char *log = getenv("FAULT_LOG");
    watched = getenv("FAULT_PATH");
    dl_iterate_phdr(find_sqlite, NULL);
    if (path != NULL) {
        int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
        void *found = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE,
                                      MAP_SHARED, file, 0);
        syscall(SYS_close, file);
        control = found;
    }
    if (log != NULL)
        log_file =
            syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int fails(int kind) {
    struct control *now = control;
    if (now == NULL || !(now->kinds & kind) || now->fail_at == 0)
        return 0;
    uint64_t call = __atomic_add_fetch(&now->calls, 1, __ATOMIC_SEQ_CST);
    if (call == now->fail_at || (now->sticky && call > now->fail_at)) {
        __atomic_add_fetch(&now->failed, 1, __ATOMIC_SEQ_CST);
        errno = (int)now->error;
        return 1;
    }
    return 0;
}

/* The name of a watched file behind the common beginning; NULL for other files. */
static const char *name_of(int file, char *buffer, size_t size) {
    char link[64];
    if (watched == NULL || file < 0)
        return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, size - 1);
    if (length <= 0)
        return NULL;
    buffer[length] = 0;
    return strncmp(buffer, watched, strlen(watched)) == 0 ? buffer + strlen(watched) : NULL;
}

static void put(const void *data, size_t size) {
    const char *from = data;
    while (size > 0) {
        ssize_t done = syscall(SYS_write, log_file, from, size);
        if (done <= 0)
            abort();
        from += done;
        size -= (size_t)done;
    }
}

static void record(char what, const char *name, int64_t offset, const void *data, uint32_t size) {
    if (log_file < 0)
        return;
    int before = errno;
    uint32_t length = (uint32_t)strlen(name);
    pthread_mutex_lock(&lock);
    put(&what, 1);
    put(&length, sizeof length);
    put(&offset, sizeof offset);
    put(&size, sizeof size);
    put(name, length);
    put(data, size);
    pthread_mutex_unlock(&lock);
    errno = before;
}

/* What the program says of itself, among the records. */
void fault_note(const char *text) { record('n', "", 0, text, (uint32_t)strlen(text)); }

static ssize_t write_at(int file, const void *data, size_t size, off_t offset, int has_offset) {
    char buffer[4096];
    const char *name = name_of(file, buffer, sizeof buffer);
    if (name != NULL && fails(WRITE)) {
        /* A full disk takes a part first, and the next call nothing. */
        if (!has_offset || size < 1024 || control->failed > 1 || control->error != ENOSPC)
            return -1;
        size /= 2;
    }
    ssize_t done = has_offset ? syscall(SYS_pwrite64, file, data, size, offset)
                              : syscall(SYS_write, file, data, size);
    if (name != NULL && done > 0)
        record('w', name, has_offset ? offset : -1, data, (uint32_t)done);
    return done;
}

ssize_t write(int file, const void *data, size_t size) { return write_at(file, data, size, 0, 0); }

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    return write_at(file, data, size, offset, 1);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    return write_at(file, data, size, offset, 1);
}

static int sync_file(int file, long call) {
    char buffer[4096];
    const char *name = name_of(file, buffer, sizeof buffer);
    if (name != NULL && fails(SYNC))
        return -1;
    int done = (int)syscall(call, file);
    if (name != NULL && done == 0)
        record('s', name, 0, "", 0);
    return done;
}

int fsync(int file) { return sync_file(file, SYS_fsync); }

int fdatasync(int file) { return sync_file(file, SYS_fdatasync); }

int ftruncate(int file, off_t size) {
    char buffer[4096];
    const char *name = name_of(file, buffer, sizeof buffer);
    if (name != NULL && fails(TRUNCATE))
        return -1;
    int done = (int)syscall(SYS_ftruncate, file, size);
    if (name != NULL && done == 0)
        record('t', name, size, "", 0);
    return done;
}

int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int unlink(const char *path) {
    int done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (done == 0 && watched != NULL && strncmp(path, watched, strlen(watched)) == 0)
        record('u', path + strlen(watched), 0, "", 0);
    return done;
}

void *mmap(void *at, size_t size, int rights, int flags, int file, off_t offset) {
    char buffer[4096];
    if (!(flags & MAP_ANONYMOUS) && name_of(file, buffer, sizeof buffer) != NULL && fails(MAP))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, rights, flags, file, offset);
}

void *mmap64(void *at, size_t size, int rights, int flags, int file, off64_t offset) {
    return mmap(at, size, rights, flags, file, offset);
}

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

#define BY_SQLITE()                                                                                \
    (sqlite_end && (uintptr_t)__builtin_return_address(0) >= sqlite_begin &&                       \
     (uintptr_t)__builtin_return_address(0) < sqlite_end)

void *malloc(size_t size) {
    return BY_SQLITE() && fails(ALLOCATE) ? NULL : __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
    return BY_SQLITE() && fails(ALLOCATE) ? NULL : __libc_realloc(old, size);
}
