/*
 * A changed copy of a config file: the value of one key is replaced, every other byte stays, comments and order too.
 *
 * The key is a path of names with dots between them, "trainer.batch_size". YAML: block mappings; JSON: objects; TOML:
 * tables and dotted keys. What cannot be replaced for certain is refused with a sentence and PLM_EINVAL: a key that is
 * not there or is there twice, a value that is a list or mapping, an alias, a text of several lines. Pure; any thread.
 */
#ifndef PLM_SWEEP_CONFIG_H
#define PLM_SWEEP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;

/* `file`: its name, whose ending tells the format. The copy is the caller's to free, with a zero behind it. */
int plm_sweep_config_edit(const char *file, const char *text, size_t size, const char *key, const char *value,
                          char **copy, size_t *copied, struct plm_error *error);

/* ---- between the files of this room ---- */

/* Where the value of a key stands. */
struct plm_sweep_place {
    size_t from, to; /* bytes of it, quotation marks included */
    unsigned found;  /* how often the key is there */
    const char *why; /* it cannot be replaced; NULL: it can */
};
/* Looks for the key; a text that ends early, or is no such file, has it not. */
typedef struct plm_sweep_place plm_sweep_find(const char *text, size_t size, const char *key);
plm_sweep_find plm_sweep_find_json, plm_sweep_find_toml, plm_sweep_find_yaml;

/* How a path goes on behind a name: NULL if it does not begin with it, "" if that was all. A name with dots in it takes
   as many of the path. */
const char *plm_sweep_path_after(const char *path, const char *name, size_t size);
/* A quoted text that begins at `at`: the place behind its end; `size` if it does not end. `escapes`: by backslash. */
size_t plm_sweep_quoted_end(const char *text, size_t size, size_t at, bool escapes);

#endif
