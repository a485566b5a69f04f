/*
 * The stack files at hand: those that come with plimsoll, then the user's own (~/.config/plimsoll/stacks/NAME.ini).
 * The list owns its stacks. One thread.
 */
#ifndef PLM_STACK_FOLDER_H
#define PLM_STACK_FOLDER_H

#include "stack/stack_file.h"

struct plm_card;
struct plm_error;
struct plm_install;

struct plm_stack_entry {
    struct plm_stack_file *stack;
    char path[4096];
    bool own; /* of the user's folder */
};

struct plm_stack_list {
    struct plm_stack_entry *entry;
    int count;
    size_t room;
};

/* Reads all files. A wrong one is an error with file, line and reason. */
int plm_stack_list_load(struct plm_stack_list *stacks, const struct plm_install *install, struct plm_error *error);
void plm_stack_list_free(struct plm_stack_list *stacks);

/* By id, or by the path of a file (one with a slash, or ending in .ini). The entry belongs to the list and is valid
   until the next call. */
int plm_stack_list_find(struct plm_stack_list *stacks, const char *name, const struct plm_stack_entry **out,
                        struct plm_error *error);

/* The newest one that was measured on a card like this one; NULL if there is none. */
const struct plm_stack_entry *plm_stack_list_for(const struct plm_stack_list *stacks, const struct plm_card *card);

/* Was it made on a card like this one? False too if it does not say on which. */
bool plm_stack_on_card(const struct plm_stack_file *stack, const struct plm_card *card);

#endif
