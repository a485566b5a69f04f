/*
 * Secrets known by their shape: hf_X, github_pat_X, sk-X, AKIAX, xoxb-X, eyJX.X.X, https://user:X@host. base/secret.h has
 * those known by their name. Any thread; nothing fails, nothing allocates.
 */
#ifndef PLM_COMMON_SECRET_SHAPE_H
#define PLM_COMMON_SECRET_SHAPE_H

/* Replaces what looks like a secret by ***. The text becomes shorter or keeps its length. */
void plm_hide_secrets(char *text);

#endif
