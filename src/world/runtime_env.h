/*
 * A runtime environment of Ray, as `ray job submit` takes it: variables of the environment, and the folder that the command is
 * started in. What else it may say (packages, containers) is passed over.
 *
 * JSON as Ray reads it. Of YAML what such files are written in: a key to a line, variables indented below `env_vars:`; a list of them in
 * one line is PLM_EFORMAT with a sentence, rather than not seen. The struct starts with zeros, is added to, and is freed by its owner
 * with plm_runtime_env_free(), also after an error. Any thread.
 */
#ifndef PLM_WORLD_RUNTIME_ENV_H
#define PLM_WORLD_RUNTIME_ENV_H

#include <stddef.h>

struct plm_error;

struct plm_runtime_env {
    char **variable; /* NAME=VALUE */
    size_t count, room;
    char *folder; /* NULL: not said, or one that is fetched from elsewhere */
};

void plm_runtime_env_variable(struct plm_runtime_env *env, const char *text);
void plm_runtime_env_folder(struct plm_runtime_env *env, const char *path);
/* `name` for its sentences. */
int plm_runtime_env_read(const char *name, const char *text, size_t size, struct plm_runtime_env *env,
                         struct plm_error *error);
int plm_runtime_env_file(const char *path, struct plm_runtime_env *env, struct plm_error *error);
void plm_runtime_env_free(struct plm_runtime_env *env);

#endif
