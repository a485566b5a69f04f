/* The stack file of a run: which one, and what the record says of it. */
#ifndef PLM_CLI_STACK_H
#define PLM_CLI_STACK_H

#include "stack/folder.h"

struct plm_card;
struct plm_error;
struct plm_install;
struct plm_pen;

/* Loads the list and chooses: `wanted` is a name, a file, "none", or "auto" (NULL too): the newest that was measured on
   such a card. *out is NULL if there is none; it belongs to the list, which the caller frees if this returns 0. */
int plm_stack_choose(struct plm_stack_list *stacks, const struct plm_install *install, const char *wanted,
                     const struct plm_card *card, const struct plm_stack_entry **out, struct plm_error *error);

/* What the context takes with the code of cuBLAS and cuDNN; 0: not known. And what is usable of the card; 0 if that is not
   known, or of another card. */
uint64_t plm_stack_context(const struct plm_stack_entry *entry);
uint64_t plm_stack_limit(const struct plm_stack_entry *entry, const struct plm_card *card);

/* Writes what the analysis needs to know of it into the record; docs/record.md has the keys. */
void plm_stack_describe(struct plm_pen *pen, const struct plm_stack_entry *entry, const struct plm_card *card);

#endif
