/* What the fuzz targets share: libFuzzer's entry point, and a file in memory for parsers that read files. */
#ifndef PLM_FUZZ_H
#define PLM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes the content of the file in memory these bytes; returns its path. */
const char *fuzz_file(const void *data, size_t size);
/* The same file, for targets that put its content together themselves. */
int fuzz_fd(void);

#endif
