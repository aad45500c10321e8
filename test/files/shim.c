/*
 * Preloaded into a test process. It watches the files below TROUPE_SHIM_FOLDER.
 * TROUPE_SHIM_LOG: records every write and sync, in order, for the power-cut test.
 * TROUPE_SHIM_WAIT: while this file exists, a sync of a watched file takes as many milliseconds as the file says. With an empty
 * file it waits until the file is gone. TROUPE_SHIM_WAIT_FOR: only syncs of files with this beginning wait.
 * TROUPE_SHIM_FAIL: while this file exists, a sync of a watched file fails with EIO and is counted in TROUPE_SHIM_COUNT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const char *watched(int fd, char *path, size_t size) {
  const char *folder = getenv("TROUPE_SHIM_FOLDER");
  char link[64];
  if (!folder || fd < 0) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  size_t prefix = strlen(folder);
  if (strncmp(path, folder, prefix) != 0 || path[prefix] != '/') return NULL;
  const char *name = path + prefix + 1;
  return strcmp(name, "log") == 0 || strstr(name, "-shm") ? NULL : name;
}

static void record(char kind, const char *name, uint64_t offset, const void *data, uint64_t length) {
  static int out = -1;
  static ssize_t (*real)(int, const void *, size_t);
  const char *log = getenv("TROUPE_SHIM_LOG");
  if (!log) return;
  pthread_mutex_lock(&mutex);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (out < 0) out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  char head[600];
  int size = snprintf(head, sizeof head, "%c %s %llu %llu\n", kind, name, (unsigned long long)offset, (unsigned long long)length);
  real(out, head, size);
  if (data && length) real(out, data, length);
  pthread_mutex_unlock(&mutex);
}

static int fails(const char *name) {
  const char *switch_file = getenv("TROUPE_SHIM_FAIL");
  const char *count = getenv("TROUPE_SHIM_COUNT");
  if (!switch_file || strstr(name, "journal.db") != name || access(switch_file, F_OK) != 0) return 0;
  if (count) {
    int fd = open(count, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
      ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
      real(fd, ".", 1);
      close(fd);
    }
  }
  errno = EIO;
  return 1;
}

static void wait_before_sync(const char *name) {
  const char *switch_file = getenv("TROUPE_SHIM_WAIT");
  const char *prefix = getenv("TROUPE_SHIM_WAIT_FOR");
  if (!switch_file || (prefix && strstr(name, prefix) != name)) return;
  for (int waited = 0;; waited += 10) {
    char text[16] = {0};
    int fd = open(switch_file, O_RDONLY);
    if (fd < 0) return;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length > 0 && waited >= atoi(text)) return;
    usleep(10000);
  }
}

#define SYNC(name)                                   \
  int name(int fd) {                                 \
    static int (*real)(int);                         \
    char path[4096];                                 \
    if (!real) real = dlsym(RTLD_NEXT, #name);       \
    const char *file = watched(fd, path, sizeof path); \
    if (file && fails(file)) return -1;              \
    if (file) wait_before_sync(file);                \
    int result = real(fd);                           \
    if (file && result == 0) record('s', file, 0, NULL, 0); \
    return result;                                   \
  }
SYNC(fsync)
SYNC(fdatasync)

#define PWRITE(name, offset_type)                                                   \
  ssize_t name(int fd, const void *data, size_t length, offset_type offset) {       \
    static ssize_t (*real)(int, const void *, size_t, offset_type);                 \
    char path[4096];                                                                \
    if (!real) real = dlsym(RTLD_NEXT, #name);                                      \
    ssize_t written = real(fd, data, length, offset);                               \
    const char *file = watched(fd, path, sizeof path);                              \
    if (file && written > 0) record('w', file, offset, data, written);              \
    return written;                                                                 \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
  static ssize_t (*real)(int, const void *, size_t);
  char path[4096];
  if (!real) real = dlsym(RTLD_NEXT, "write");
  const char *file = watched(fd, path, sizeof path);
  off_t offset = file ? lseek(fd, 0, SEEK_CUR) : 0;
  ssize_t written = real(fd, data, length);
  if (file && written > 0) record('w', file, offset < 0 ? 0 : offset, data, written);
  return written;
}

#define TRUNCATE(name, length_type)                            \
  int name(int fd, length_type length) {                       \
    static int (*real)(int, length_type);                      \
    char path[4096];                                           \
    if (!real) real = dlsym(RTLD_NEXT, #name);                 \
    int result = real(fd, length);                             \
    const char *file = watched(fd, path, sizeof path);         \
    if (file && result == 0) record('t', file, length, NULL, 0); \
    return result;                                             \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)
