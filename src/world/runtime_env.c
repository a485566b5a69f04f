#include "world/runtime_env.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "base/json_read.h"
#include "base/memory.h"

enum { FILE_MOST = 1 << 20 };
static const char variables_key[] = "env_vars", folder_key[] = "working_dir", blanks[] = " \t\r";

void plm_runtime_env_variable(struct plm_runtime_env *env, const char *text)
{
    env->variable = plm_grow(env->variable, env->count, &env->room, sizeof *env->variable);
    env->variable[env->count++] = plm_strdup(text);
}

static void variable_add(struct plm_runtime_env *env, const char *name, const char *value)
{
    char *text = plm_asprintf("%s=%s", name, value);
    plm_runtime_env_variable(env, text);
    free(text);
}

void plm_runtime_env_folder(struct plm_runtime_env *env, const char *path)
{
    free(env->folder);
    env->folder = strstr(path, "://") ? NULL : plm_strdup(path);
}

void plm_runtime_env_free(struct plm_runtime_env *env)
{
    for (size_t i = 0; i < env->count; i++)
        free(env->variable[i]);
    free(env->variable);
    free(env->folder);
    *env = (struct plm_runtime_env){0};
}

/* ---- JSON ---- */

static int json_variables(struct plm_json_reader *reader, struct plm_runtime_env *env, struct plm_error *error)
{
    struct plm_json_value v;
    int status = plm_json_next(reader, &v, error);
    if (!status && v.token != PLM_JSON_OBJECT)
        return plm_fail(error, PLM_EFORMAT, "the runtime environment's env_vars are not names with values");
    while (!status && !(status = plm_json_next(reader, &v, error)) && v.token == PLM_JSON_KEY) {
        char *name = plm_strdup(v.text);
        status = plm_json_next(reader, &v, error);
        if (!status && v.token != PLM_JSON_STRING) /* as Ray has it: a number is no value of a variable */
            status = plm_fail(error, PLM_EFORMAT, "the runtime environment's variable '%.60s' is not a string", name);
        if (!status)
            variable_add(env, name, v.text);
        free(name);
    }
    return status;
}

static int json_member(struct plm_json_reader *reader, const char *key, struct plm_runtime_env *env,
                       struct plm_error *error)
{
    struct plm_json_value v;
    int status;
    if (!strcmp(key, variables_key))
        return json_variables(reader, env, error);
    if (strcmp(key, folder_key) != 0)
        return plm_json_skip(reader, error);
    status = plm_json_next(reader, &v, error);
    if (!status && v.token != PLM_JSON_STRING)
        status = plm_fail(error, PLM_EFORMAT, "the runtime environment's working_dir is not a path");
    if (!status)
        plm_runtime_env_folder(env, v.text);
    return status;
}

static int json_read(const char *name, const char *text, size_t size, struct plm_runtime_env *env,
                     struct plm_error *error)
{
    struct plm_json_reader *reader;
    struct plm_json_value v;
    int status = plm_json_open_memory(name, text, size, &reader, error);
    if (status)
        return status;
    status = plm_json_next(reader, &v, error); /* the object: its brace was seen */
    while (!status && !(status = plm_json_next(reader, &v, error)) && v.token == PLM_JSON_KEY)
        status = json_member(reader, v.text, env, error);
    if (!status)
        status = plm_json_next(reader, &v, error); /* the end, and nothing behind it */
    plm_json_close(reader);
    return status;
}

/* ---- YAML ---- */

/* Without blanks around it, a comment behind it, and quotes. */
static char *yaml_value(char *text)
{
    char *end;
    text += strspn(text, blanks);
    if ((*text == '"' || *text == '\'') && (end = strchr(text + 1, *text)) != NULL) {
        *end = '\0';
        return text + 1;
    }
    end = strstr(text, " #");
    end = *text == '#' ? text : end ? end : text + strlen(text);
    while (end > text && strchr(blanks, end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* One line; *variables: whether it may be one of env_vars. */
static int yaml_line(const char *name, char *line, bool *variables, struct plm_runtime_env *env,
                     struct plm_error *error)
{
    char *key = line + strspn(line, blanks), *colon = strchr(key, ':'), *value;
    const bool inner = key > line;
    if (!*key || *key == '#' || !strncmp(key, "---", 3))
        return 0;
    if (!inner)
        *variables = false;
    if (!colon || (inner && !*variables))
        return 0;
    *colon = '\0';
    key = yaml_value(key);
    value = yaml_value(colon + 1);
    if (inner)
        variable_add(env, key, value);
    else if (!strcmp(key, folder_key))
        plm_runtime_env_folder(env, value);
    else if (!strcmp(key, variables_key) && *value && strcmp(value, "{}") != 0)
        return plm_fail(error, PLM_EFORMAT, "%.200s: env_vars on one line are not supported; write one per line", name);
    else
        *variables = !strcmp(key, variables_key);
    return 0;
}

static int yaml_read(const char *name, const char *text, size_t size, struct plm_runtime_env *env,
                     struct plm_error *error)
{
    char *copy = plm_strndup(text, size), *rest;
    bool variables = false;
    int status = 0;
    for (char *line = strtok_r(copy, "\n", &rest); line && !status; line = strtok_r(NULL, "\n", &rest))
        status = yaml_line(name, line, &variables, env, error);
    free(copy);
    return status;
}

int plm_runtime_env_read(const char *name, const char *text, size_t size, struct plm_runtime_env *env,
                         struct plm_error *error)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", text[at]) && text[at])
        at++;
    if (at < size && text[at] == '{')
        return json_read(name, text, size, env, error);
    return yaml_read(name, text, size, env, error);
}

int plm_runtime_env_file(const char *path, struct plm_runtime_env *env, struct plm_error *error)
{
    uint64_t size;
    ssize_t got;
    char *text;
    int status, file = plm_input_open(path, &size, error);
    if (file < 0)
        return file;
    text = plm_calloc(FILE_MOST, 1);
    got = read(file, text, FILE_MOST);
    close(file);
    if (got < 0 || size > FILE_MOST)
        status = plm_fail(error, PLM_EIO, "the runtime environment '%.200s' cannot be read", path);
    else
        status = plm_runtime_env_read(path, text, (size_t)got, env, error);
    free(text);
    return status;
}
