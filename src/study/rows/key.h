/*
 * What decides the outcome of a run, as one number: FNV-1a over texts, and over files by path, size and time. Pure but
 * for the files; any thread. PLM_KEY is the start.
 */
#ifndef PLM_ROWS_KEY_H
#define PLM_ROWS_KEY_H

#include <stdint.h>

struct plm_install;

#define PLM_KEY 0xcbf29ce484222325ull
uint64_t plm_rows_key_text(uint64_t key, const char *text);
/* `name` "": the folder itself. One that is not there counts by its path. */
uint64_t plm_rows_key_file(uint64_t key, const char *folder, const char *name);
/* The virtual GPU: its libraries, and the variables that PyTorch and they look at. */
uint64_t plm_rows_key_device(uint64_t key, const struct plm_install *install);

#endif
