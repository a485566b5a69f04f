/*
 * The GPU catalogue: the files that come with plimsoll, then the user's own
 * (~/.config/plimsoll/gpus/NAME.ini), then a path given by hand.
 */
#ifndef PLM_CATALOGUE_H
#define PLM_CATALOGUE_H

#include <stddef.h>

#include "common/card.h"
#include "base/install.h"

struct plm_error;

struct plm_catalogue_entry {
    struct plm_card card;
    char path[4096];
};

struct plm_catalogue {
    struct plm_catalogue_entry *entry;
    int count;
    size_t room;
    struct plm_install install; /* that it was loaded from */
};

/* Reads all files. A wrong file is an error with file, line and reason. */
int plm_catalogue_load(struct plm_catalogue *catalogue, const struct plm_install *install, struct plm_error *error);
/* The same, of the installation that this program is of. */
int plm_catalogue_open(struct plm_catalogue *catalogue, struct plm_error *error);
void plm_catalogue_free(struct plm_catalogue *catalogue);

/* By name in any common spelling (plm_card_match), or by path of a GPU file ("./my.ini"). The entry belongs to the
   catalogue. An unknown name is an error that offers the nearest ones, an ambiguous one lists the choices. */
int plm_catalogue_find(struct plm_catalogue *catalogue, const char *name, const struct plm_catalogue_entry **out,
                       struct plm_error *error);

#endif
