/* Stands in for a disk that does not answer: fsync and fdatasync of files whose name begins with STALL_PATH do not return
   while the file STALL_FLAG is there. Loaded before libc by stalled-store.test.ts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void stall(int fd) {
  const char *path = getenv("STALL_PATH"), *flag = getenv("STALL_FLAG");
  char link[64], name[4096];
  ssize_t length;
  if (path == NULL || flag == NULL) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, name, sizeof name - 1);
  if (length < 0) return;
  name[length] = 0;
  if (strncmp(name, path, strlen(path)) != 0) return;
  while (access(flag, F_OK) == 0) usleep(5000);
}

int fsync(int fd) {
  stall(fd);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
  stall(fd);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
