/*
 * What the fuzz targets share: libFuzzer's entry point, and ways to give a parser its input without a file system.
 * Everything belongs to fuzz.c and holds until the next input. One thread.
 */
#ifndef PLM_FUZZ_H
#define PLM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the content of a file in memory these bytes; returns its path. For parsers that only read files. */
const char *fuzz_file(const void *data, size_t size);

/* Under this path, too, there is a file with these bytes from now on, for whoever opens it with plm_input_open(), fopen() or
   open() or asks access(), which fuzz.c stands in for. One without bytes can still be made (O_EXCL). NULL: none any more. */
void fuzz_place(const char *path, const void *data, size_t size);

/* What every reader of `key = value` files finds under this path from now on; under any other there is nothing. The
   linker puts fuzz.c in the place of plm_ini_read(). The bytes are the caller's. */
void fuzz_ini(const char *path, const void *text, size_t size);

/* A file that is written through base/output.h, which fuzz.c stands in for too, is this one in memory instead; its path. */
const char *fuzz_written(void);

/* One sentence: there, a single line, and ended. */
struct plm_error;
void fuzz_sentence(const struct plm_error *error);

/* UTF-8 without controls (but for line ends) and without marks of direction. A zero follows the text. */
void fuzz_plain(const char *text, size_t size);

/* Ends the program, which is a finding. */
#define MUST(condition)       \
    do {                      \
        if (!(condition))     \
            __builtin_trap(); \
    } while (0)

#endif
