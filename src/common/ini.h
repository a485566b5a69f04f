/*
 * A strict reader of `[section]` / `key = value` files (GPU files, plimsoll.ini).
 *
 * Comments stand on lines of their own and start with # or ;. Anything else that is not a section or
 * a pair is refused with file and line. The whole text is handed over pair by pair; nothing is kept.
 */
#ifndef PLM_INI_H
#define PLM_INI_H

#include <stddef.h>

struct plm_error;

struct plm_ini_pair {
    const char *section, *key, *value;
    const char *path;
    int line;
};

/* Returns 0 to go on, or a negative code after filling the error. */
typedef int plm_ini_visit(const struct plm_ini_pair *pair, void *context, struct plm_error *error);

int plm_ini_read(const char *path, plm_ini_visit *visit, void *context, struct plm_error *error);
int plm_ini_parse(const char *path, const char *text, size_t size, plm_ini_visit *visit, void *context,
                  struct plm_error *error);

#endif
