/* What if the disk is slow? Loaded before a process (LD_PRELOAD), this makes each fsync and fdatasync take SLOW_FSYNC_US
 * microseconds longer. Linux. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void dawdle(void) {
  const char *us = getenv("SLOW_FSYNC_US");
  if (us) usleep((useconds_t)atoi(us));
}

int fsync(int fd) {
  dawdle();
  return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  dawdle();
  return (int)syscall(SYS_fdatasync, fd);
}
