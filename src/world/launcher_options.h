/*
 * The options of launchers, as their manuals have them: which there are, how many words each takes, and what it tells about
 * the job. What is made of that is launcher.c's.
 *
 * Constant tables; any thread. Words are those of the line that is read and are not copied. An option that is in no table is
 * PLM_EINVAL with a sentence, as it is not known whether the next word belongs to it.
 */
#ifndef PLM_WORLD_LAUNCHER_OPTIONS_H
#define PLM_WORLD_LAUNCHER_OPTIONS_H

#include "world/rank.h"

struct plm_error;
struct plm_launcher_style; /* how one launcher, or several that are alike, writes its line */

/* What an option tells; most of them nothing that matters here. */
enum plm_launcher_told {
    PLM_TOLD_NOTHING,
    PLM_TOLD_TASKS,
    PLM_TOLD_NODES,
    PLM_TOLD_PER_NODE,
    PLM_TOLD_GPUS,      /* of a node, perhaps after a type and a colon */
    PLM_TOLD_NODE_LIST, /* as Slurm writes it */
    PLM_TOLD_HOSTS,     /* with slots: a:8,b:8 */
    PLM_TOLD_HOST_FILE, /* with slots as well */
    PLM_TOLD_PORT,
    PLM_TOLD_MODULE,
    PLM_TOLD_NO_PYTHON,
    PLM_TOLD_USE_ENV,
    PLM_TOLD_EXPORT, /* NAME=VALUE */
    PLM_TOLD_FOLDER, /* that the command is started in */
    PLM_TOLD_RUNTIME_ENV, /* Ray's, as JSON */
    PLM_TOLD_RUNTIME_ENV_FILE,
};

struct plm_launcher_option {
    char name[64]; /* without dashes */
    enum plm_launcher_told told;
    const char *value; /* NULL: it has none */
};

/* By the name of the program, without folders, and the words that say which of its commands it is. NULL: it is none of them. */
const struct plm_launcher_style *plm_launcher_style_find(const char *program, char *const *words);
enum plm_launcher plm_launcher_of(const struct plm_launcher_style *style);
/* How many such words there are. */
int plm_launcher_verbs(const struct plm_launcher_style *style);

/* Reads the option that command[*at] is; *at is the word after it and its values then. `launcher` is for the sentence. */
int plm_launcher_option_read(const struct plm_launcher_style *style, const char *launcher, char *const *command,
                             int *at, struct plm_launcher_option *out, struct plm_error *error);

#endif
