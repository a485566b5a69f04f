/*
 * What of a command line may be stored. A value whose name looks like that of a secret becomes ***, and so does one that
 * looks like a secret itself:
 *
 *   --api-key X   --api-key=X   HF_TOKEN=X   trainer.auth.password=X   https://user:X@host/?access_token=X
 *   hf_X   github_pat_X   sk-X   AKIAX   xoxb-X   eyJX.X.X   https://user:X@host
 *
 * The name decides, cut into its parts (api, key): secret.c has the tables. Shapes are in common/secret_shape.c. Values after a name that starts a word
 * are masked to the end of the word, those inside one (sh -c "...") to the next blank, quote or separator. Too much
 * is masked rather than too little. What is given is the caller's to free. Any thread; nothing fails.
 */
#ifndef PLM_BASE_SECRET_H
#define PLM_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Does a value with this name have to be kept secret? Dashes before it do not matter. */
bool plm_secret_name(const char *name, size_t length);

/* A copy of one word of a command, masked. *next is false for the first word, and then what this left there. */
__attribute__((returns_nonnull)) char *plm_secret_mask(const char *word, bool *next);

#endif
