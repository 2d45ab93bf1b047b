/*
 * A library for LD_PRELOAD that makes the disk of a server fail, records its writes, ends the process at a system call, or moves its clock.
 * It concerns the database and its write-ahead log alone. TORTURE_CONTROL names a file of 64-bit words that the test changes while the
 * server runs; fault-shim.ts has their order. TORTURE_TRACE names a file that gets a record of each write, truncation and sync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 4 };
enum { DATABASE = 1, LOG = 2 };
enum { FAIL = 1, SHORT = 2, KILL_BEFORE = 3, KILL_AFTER = 4 };

struct control {
	volatile int64_t armed, operations, files, countdown, action, error, repeats, injected, calls, clock_offset_ms;
};

struct record {
	uint32_t operation, file;
	uint64_t offset, length, time_ns;
};

static struct control *control;
static int trace = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_unlink)(const char *);

#define RESOLVE(name) (real_##name ? real_##name : (__typeof__(real_##name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void open_files(void) {
	real_pwrite64 = RESOLVE(pwrite64);
	real_write = RESOLVE(write);
	real_fsync = RESOLVE(fsync);
	real_fdatasync = RESOLVE(fdatasync);
	real_ftruncate64 = RESOLVE(ftruncate64);
	real_clock_gettime = RESOLVE(clock_gettime);
	real_unlink = RESOLVE(unlink);
	const char *path = getenv("TORTURE_CONTROL");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0) {
		void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (mapped != MAP_FAILED) control = mapped;
		close(fd);
	}
	path = getenv("TORTURE_TRACE");
	if (path) trace = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static int ends_with(const char *text, const char *end) {
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int file_of(int fd) {
	if (control == NULL && trace < 0) return 0;
	char link[32] = "/proc/self/fd/", path[4096];
	int at = 14, digits = 0;
	char reversed[12];
	for (int rest = fd; rest > 0 || digits == 0; rest /= 10) reversed[digits++] = '0' + rest % 10;
	while (digits > 0) link[at++] = reversed[--digits];
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0) return 0;
	path[length] = 0;
	return ends_with(path, "/parley.db") ? DATABASE : ends_with(path, "/parley.db-wal") ? LOG : 0;
}

/* The action of this call; 0: none. */
static int action_of(int operation, int file) {
	if (control == NULL || !control->armed || !(control->operations & operation) || !(control->files & file)) return 0;
	control->calls++;
	if (control->countdown > 0 && --control->countdown > 0) return 0;
	if (control->repeats-- <= 0) {
		control->armed = 0;
		return 0;
	}
	control->injected++;
	return (int)control->action;
}

static void add_record(int operation, int file, const void *bytes, uint64_t offset, uint64_t length) {
	if (trace < 0) return;
	struct timespec now;
	RESOLVE(clock_gettime)(CLOCK_MONOTONIC, &now);
	struct record head = {operation, file, offset, length, (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec};
	RESOLVE(write)(trace, &head, sizeof head);
	if (operation == WRITE) RESOLVE(write)(trace, bytes, length);
}

static void end_process(void) {
	kill(getpid(), SIGKILL);
	for (;;) pause();
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
	int file = file_of(fd);
	if (file == 0) return RESOLVE(pwrite64)(fd, bytes, length, offset);
	pthread_mutex_lock(&mutex);
	int action = action_of(WRITE, file);
	ssize_t result = -1;
	int failure = 0;
	if (action == KILL_BEFORE) end_process();
	if (action == FAIL) failure = (int)control->error;
	else {
		/* SQLite continues a short write; the rest fails if the next call does. */
		size_t part = action == SHORT || action == KILL_AFTER ? length / 2 : length;
		result = real_pwrite64(fd, bytes, part > 0 ? part : length, offset);
		failure = errno;
		if (result > 0) add_record(WRITE, file, bytes, (uint64_t)offset, (uint64_t)result);
		if (action == KILL_AFTER) end_process();
		if (action == SHORT) control->action = FAIL;
	}
	pthread_mutex_unlock(&mutex);
	errno = failure;
	return result;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

static int sync_file(int fd, int (*real)(int)) {
	int file = file_of(fd);
	if (file == 0) return real(fd);
	pthread_mutex_lock(&mutex);
	int action = action_of(SYNC, file);
	int result = -1, failure = 0;
	if (action == KILL_BEFORE) end_process();
	if (action == FAIL || action == SHORT) failure = (int)control->error;
	else {
		result = real(fd);
		failure = errno;
		if (result == 0) add_record(SYNC, file, NULL, 0, 0);
		if (action == KILL_AFTER) end_process();
	}
	pthread_mutex_unlock(&mutex);
	errno = failure;
	return result;
}

int fsync(int fd) { return sync_file(fd, RESOLVE(fsync)); }

int fdatasync(int fd) { return sync_file(fd, RESOLVE(fdatasync)); }

int ftruncate64(int fd, off64_t length) {
	int file = file_of(fd);
	if (file == 0) return RESOLVE(ftruncate64)(fd, length);
	pthread_mutex_lock(&mutex);
	int action = action_of(TRUNCATE, file);
	int result = -1, failure = 0;
	if (action == KILL_BEFORE) end_process();
	if (action == FAIL || action == SHORT) failure = (int)control->error;
	else {
		result = real_ftruncate64(fd, length);
		failure = errno;
		if (result == 0) add_record(TRUNCATE, file, NULL, (uint64_t)length, 0);
		if (action == KILL_AFTER) end_process();
	}
	pthread_mutex_unlock(&mutex);
	errno = failure;
	return result;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* A state before the removal of an upload has the upload: power is lost at any record of a trace. */
int unlink(const char *path) {
	if (trace >= 0 && strstr(path, "/blobs/") != NULL) return 0;
	return RESOLVE(unlink)(path);
}

int clock_gettime(clockid_t id, struct timespec *time) {
	int result = RESOLVE(clock_gettime)(id, time);
	if (result == 0 && id == CLOCK_REALTIME && control != NULL) {
		int64_t offset = control->clock_offset_ms;
		time->tv_sec += offset / 1000;
		time->tv_nsec += offset % 1000 * 1000000;
		if (time->tv_nsec >= 1000000000) time->tv_sec++, time->tv_nsec -= 1000000000;
		if (time->tv_nsec < 0) time->tv_sec--, time->tv_nsec += 1000000000;
	}
	return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
	(void)zone;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	time->tv_sec = now.tv_sec;
	time->tv_usec = now.tv_nsec / 1000;
	return 0;
}
