#include "record/create.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"

_Static_assert(sizeof(struct plm_record_header) <= PLM_RECORD_HEADER, "the header fits its place");

static uint64_t now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As long as this process lives: writers that find it gone know that nobody watches them. Not every file system has
   such locks. */
static bool file_hold(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

int plm_record_create(const char *path, bool replace, struct plm_record_file *file, struct plm_error *error)
{
    struct plm_record_header *h;
    int status;

    file->header = NULL;
    file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), 0600);
    if (file->fd < 0)
        return errno == EEXIST
                   ? plm_fail(error, PLM_EIO, "%s exists; use -f to replace it, or -o to choose another file", path)
                   : plm_fail(error, PLM_EIO, "cannot write %s: %s; choose another place with -o", path,
                              strerror(errno));
    status = posix_fallocate(file->fd, 0, PLM_RECORD_HEADER);
    if (status) {
        status = plm_fail(error, PLM_EIO, "cannot write %s: %s; choose another place with -o", path, strerror(status));
        goto fail;
    }
    h = mmap(NULL, PLM_RECORD_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (h == MAP_FAILED) {
        status = plm_fail(error, PLM_EIO, "cannot map %s: %s; choose another place with -o", path, strerror(errno));
        goto fail;
    }
    memcpy(h->magic, PLM_RECORD_MAGIC, sizeof h->magic);
    h->version = PLM_RECORD_VERSION;
    h->header_bytes = PLM_RECORD_HEADER;
    h->chunk_bytes = PLM_RECORD_CHUNK;
    h->slots = PLM_RECORD_SLOTS;
    h->created_ns = now_ns(CLOCK_REALTIME);
    h->monotonic_ns = now_ns(CLOCK_MONOTONIC);
    if (file_hold(file->fd))
        atomic_fetch_or(&h->flags, PLM_RECORD_HELD);
    file->header = h;
    return 0;
fail:
    close(file->fd);
    file->fd = -1;
    return status;
}

void plm_record_close(struct plm_record_file *file)
{
    if (file->header) {
        atomic_fetch_or(&file->header->flags, PLM_RECORD_ENDED);
        munmap(file->header, PLM_RECORD_HEADER);
    }
    if (file->fd >= 0)
        close(file->fd);
    file->header = NULL;
    file->fd = -1;
}
