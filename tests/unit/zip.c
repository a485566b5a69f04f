/* Archives made here byte by byte, by the layout in PKWARE's APPNOTE.TXT; what deflates is zlib itself. */
#include "base/zip.h"

#include <stdlib.h>
#include <zlib.h>

#include "common/error.h"
#include "unit.h"

enum { STORED = 0, DEFLATED = 8, LOCAL = 30, CENTRAL = 46, END = 22 };

static unsigned char archive[256 << 10];
static size_t size, directory; /* bytes so far; where the directory begins */
static unsigned entries;

static void put(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        archive[size++] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(const void *bytes, size_t count)
{
    if (count)
        memcpy(archive + size, bytes, count);
    size += count;
}

struct file {
    const char *name, *data;
    size_t length;
    int method;
    size_t extra;         /* bytes of extra fields of the local header */
    size_t extra_central; /* and of the directory, beside a comment of 3 */
    size_t at, packed;    /* filled in */
};

static size_t deflated(const struct file *f, unsigned char *to, size_t room)
{
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)f->data,
                  .avail_in = (unsigned)f->length,
                  .next_out = to,
                  .avail_out = (unsigned)room};
    assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&s), Z_OK);
    return s.total_out;
}

static void file_add(struct file *f)
{
    static unsigned char packed[64 << 10];
    f->at = size;
    f->packed = f->method == DEFLATED ? deflated(f, packed, sizeof packed) : f->length;
    put_bytes("PK\3\4", 4);
    put(20, 2); /* version */
    put(0, 2);  /* flags */
    put((unsigned)f->method, 2);
    put(0, 8); /* time, date, checksum */
    put(f->packed, 4);
    put(f->length, 4);
    put(strlen(f->name), 2);
    put(f->extra, 2);
    put_bytes(f->name, strlen(f->name));
    memset(archive + size, 'x', f->extra);
    size += f->extra;
    put_bytes(f->method == DEFLATED ? (const void *)packed : f->data, f->packed);
}

static void file_list(const struct file *f)
{
    put_bytes("PK\1\2", 4);
    put(20, 2); /* made by */
    put(20, 2); /* version */
    put(0, 2);  /* flags */
    put((unsigned)f->method, 2);
    put(0, 8);
    put(f->packed, 4);
    put(f->length, 4);
    put(strlen(f->name), 2);
    put(f->extra_central, 2);
    put(3, 2); /* comment */
    put(0, 8); /* disk, attributes */
    put(f->at, 4);
    put_bytes(f->name, strlen(f->name));
    memset(archive + size, 'y', f->extra_central + 3);
    size += f->extra_central + 3;
    entries++;
}

static void end_add(size_t comment)
{
    const size_t bytes = size - directory;
    put_bytes("PK\5\6", 4);
    put(0, 4); /* disks */
    put(entries, 2);
    put(entries, 2);
    put(bytes, 4);
    put(directory, 4);
    put(comment, 2);
    memset(archive + size, 'c', comment);
    size += comment;
}

static char long_text[30000];
static struct file files[] = {
    {.name = "a/data.pkl", .data = "hello", .length = 5, .method = STORED, .extra = 7},
    {.name = "a/version", .data = long_text, .length = sizeof long_text, .method = DEFLATED, .extra_central = 9},
    {.name = "a/empty", .data = "", .length = 0, .method = STORED},
    {.name = "a/none", .data = "", .length = 0, .method = DEFLATED, .extra = 1, .extra_central = 1},
};

static void archive_make(size_t before, size_t comment)
{
    size = before;
    entries = 0;
    for (size_t i = 0; i < sizeof long_text; i++)
        long_text[i] = (char)(i * i % 251);
    for (size_t i = 0; i < COUNT(files); i++)
        file_add(&files[i]);
    directory = size;
    for (size_t i = 0; i < COUNT(files); i++)
        file_list(&files[i]);
    end_add(comment);
}

static void opens(struct plm_zip *z)
{
    struct plm_error error;
    if (plm_zip_open(archive, size, z, &error))
        fail_msg("%s", error.text);
}

/* With as long a comment as there may be, and with something before the first entry. */
static void read_again(void **state)
{
    static const size_t comments[] = {0, 1, 65535};
    (void)state;
    for (size_t i = 0; i < COUNT(comments); i++) {
        struct plm_zip z;
        archive_make(i * 1000, comments[i]);
        opens(&z);
        assert_int_equal(z.entries, COUNT(files));
        for (size_t k = 0; k < COUNT(files); k++) {
            const struct plm_zip_entry *e = plm_zip_find(&z, files[k].name);
            unsigned char *bytes;
            assert_ptr_equal(e, &z.entry[k]);
            assert_int_equal(e->offset, files[k].at);
            assert_int_equal(e->size, files[k].length);
            assert_int_equal(e->packed, files[k].packed);
            assert_int_equal(e->method, files[k].method);
            assert_int_equal(plm_zip_read(&z, e, &bytes, NULL), 0);
            assert_memory_equal(bytes, files[k].data, files[k].length + !files[k].length);
            assert_int_equal(bytes[files[k].length], 0); /* a text may be read from it */
            free(bytes);
        }
        assert_null(plm_zip_find(&z, "a/versio"));
        assert_null(plm_zip_find(&z, "a/version2"));
        assert_null(plm_zip_find(&z, "b/version"));
        plm_zip_close(&z);
        assert_int_equal(z.entries, 0);
    }
}

static void open_fails(const char *says)
{
    struct plm_zip z;
    struct plm_error error;
    assert_int_equal(plm_zip_open(archive, size, &z, &error), PLM_EFORMAT);
    assert_contains(error.text, says);
    assert_null(z.entry);
}

static void directories_that_are_wrong(void **state)
{
    struct plm_zip z;
    size_t end;
    (void)state;
    for (size = 0; size < END; size++)
        open_fails("no directory");
    archive_make(0, 65535);
    memset(archive + size, 'c', 1);
    size++; /* a byte more than a comment can have */
    open_fails("no directory");
    archive_make(0, 0);
    end = size - END;
    archive[end + 16]++; /* where it begins: the entries do not, and it does not end where the record does */
    open_fails("is outside");
    archive[end + 16]--;
    archive[end + 12]++;
    open_fails("is outside");
    archive[end + 12]--;
    archive[end + 19] = 1; /* 16 MiB behind the end */
    open_fails("is outside");
    archive[end + 19] = 0;
    archive[end + 10]++; /* one more entry than there is */
    open_fails("damaged");
    archive[end + 10]--;
    archive[directory]++;
    open_fails("damaged");
    archive[directory]--;
    archive[directory + 33] = 0xff; /* a comment beyond the end */
    open_fails("damaged");
    archive[directory + 33] = 0;
    archive[directory + 8] = 1;
    open_fails("encrypted");
    archive[directory + 8] = 2; /* another flag */
    opens(&z);
    plm_zip_close(&z);
}

static int reads(const char *name, const char *says)
{
    struct plm_zip z;
    struct plm_error error = {0};
    unsigned char *bytes = NULL;
    int status;
    opens(&z);
    status = plm_zip_read(&z, plm_zip_find(&z, name), &bytes, &error);
    assert_contains(error.text, status ? says : "");
    assert_int_equal(status != 0, bytes == NULL);
    free(bytes);
    plm_zip_close(&z);
    return status;
}

/* The n-th row of the directory. */
static unsigned char *row(int n)
{
    unsigned char *at = archive + directory;
    for (int i = 0; i < n; i++)
        at += CENTRAL + strlen(files[i].name) + files[i].extra_central + 3;
    return at;
}

static void entries_that_are_wrong(void **state)
{
    (void)state;
    archive_make(0, 0);
    row(0)[42]++; /* where it is */
    assert_int_equal(reads("a/data.pkl", "not where"), PLM_EFORMAT);
    row(0)[42]--;
    row(0)[45] = 1;
    assert_int_equal(reads("a/data.pkl", "not where"), PLM_EFORMAT);
    row(0)[45] = 0;
    row(0)[10] = 12; /* bzip2 */
    assert_int_equal(reads("a/data.pkl", "unknown compression"), PLM_EFORMAT);
    row(0)[10] = STORED;
    row(0)[24]++; /* stored, and larger than it is there */
    assert_int_equal(reads("a/data.pkl", "unknown compression"), PLM_EFORMAT);
    row(0)[24]--;
    row(0)[22] = row(0)[26] = 9; /* 576 KiB: more than the archive has */
    assert_int_equal(reads("a/data.pkl", "is truncated"), PLM_EFORMAT);
    row(0)[22] = row(0)[26] = 0;
    archive[29] = 0xff; /* extra fields without end, of the first local header */
    archive[28] = 0xff;
    assert_int_equal(reads("a/data.pkl", "is truncated"), PLM_EFORMAT);
    archive[29] = 0;
    archive[28] = 7;
    assert_int_equal(reads("a/data.pkl", ""), 0);
    row(1)[24]--; /* one byte less, and one more, than it unpacks to */
    assert_int_equal(reads("a/version", "does not unpack"), PLM_EFORMAT);
    row(1)[24] += 2;
    assert_int_equal(reads("a/version", "does not unpack"), PLM_EFORMAT);
    row(1)[24]--;
    row(1)[20]--; /* cut short */
    assert_int_equal(reads("a/version", "does not unpack"), PLM_EFORMAT);
    row(1)[20]++;
    memcpy(row(1) + 24, "\1\0\0\4", 4); /* 64 MiB and a byte */
    assert_int_equal(reads("a/version", "too large"), PLM_EFORMAT);
    memcpy(row(1) + 24, "\0\0\0\4", 4);
    assert_int_equal(reads("a/version", "does not unpack"), PLM_EFORMAT);
}

/* An entry may end with the archive's last byte, before the directory or behind it. */
static void at_the_end(void **state)
{
    struct file last = {.name = "z", .data = "12345", .length = 5, .method = STORED};
    struct plm_zip z;
    unsigned char *bytes;
    (void)state;
    size = directory = 0;
    entries = 0;
    last.at = CENTRAL + 1 + 3 + END; /* behind the record at the end, as its comment */
    last.packed = last.length;
    file_list(&last);
    end_add(LOCAL + 1 + 5);
    size = last.at;
    file_add(&last);
    opens(&z);
    assert_int_equal(plm_zip_read(&z, &z.entry[0], &bytes, NULL), 0);
    assert_memory_equal(bytes, "12345", 5);
    free(bytes);
    plm_zip_close(&z);
    size--;
    opens(&z);
    assert_int_equal(plm_zip_read(&z, &z.entry[0], &bytes, NULL), PLM_EFORMAT);
    plm_zip_close(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_again),
        cmocka_unit_test(directories_that_are_wrong),
        cmocka_unit_test(entries_that_are_wrong),
        cmocka_unit_test(at_the_end),
    };
    return RUN(tests);
}
