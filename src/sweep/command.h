/*
 * The command of one point of a sweep: its words with the values in place of {name}, and with changed copies in place of
 * config files; what its environment gets.
 *
 * plm_sweep_command_check() tells once whether each parameter is to be found in the command. The words of
 * plm_sweep_command_make() are freed by plm_sweep_command_free(); the copies are files of the caller's temporary folder,
 * removed by its caller with it. Nothing else is written. PLM_EINVAL and PLM_EREAD with a sentence. One thread.
 */
#ifndef PLM_SWEEP_COMMAND_H
#define PLM_SWEEP_COMMAND_H

#include "sweep/parameters.h"

struct plm_sweep_command {
    char **words;
    char **environment;                   /* "NAME=VALUE", ended by NULL */
    char *copy[PLM_SWEEP_PARAMETERS];     /* of config files */
};

int plm_sweep_command_check(const struct plm_sweep_parameters *parameters, char *const *words, struct plm_error *error);
/* `value`: of each parameter; `prefix`: of the copies, "FOLDER/3-". */
int plm_sweep_command_make(const struct plm_sweep_parameters *parameters, char (*value)[PLM_SWEEP_TEXT],
                           char *const *words, const char *prefix, struct plm_sweep_command *out,
                           struct plm_error *error);
void plm_sweep_command_free(struct plm_sweep_command *command);

#endif
