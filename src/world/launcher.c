#include "world/launcher.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"
#include "world/launcher_options.h"
#include "world/runtime_env.h"

/* ---- what they tell ---- */

static int number_read(const char *name, const char *text, unsigned *out, struct plm_error *error)
{
    char *end;
    unsigned long value;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (end == text || *end || errno || text[0] == '-' || !value || value > PLM_WORLD_MOST)
        return plm_fail(error, PLM_EINVAL, "'%.40s' in the launcher's %.40s is not a number of ranks or nodes", text,
                        name);
    *out = (unsigned)value;
    return 0;
}

/* "2", "1:4", "1-4": as many as there can be. "gpu", "auto" and "cpu" tell nothing. */
static int most_read(const char *name, const char *text, unsigned *out, struct plm_error *error)
{
    const char *mark = strpbrk(text, ":-");
    if (!strcmp(text, "gpu") || !strcmp(text, "auto") || !strcmp(text, "cpu"))
        return 0;
    return number_read(name, mark ? mark + 1 : text, out, error);
}

static int port_read(const char *text, int *out, struct plm_error *error)
{
    char *end;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || value < 0 || value > 65535)
        return plm_fail(error, PLM_EINVAL, "'%.40s' on the launcher's line is not a port", text);
    *out = (int)value;
    return 0;
}

static int list_bad(const char *list, struct plm_error *error)
{
    return plm_fail(error, PLM_EINVAL, "the list of nodes '%.100s' cannot be read", list);
}

/* "01-04,7" up to the bracket. */
static const char *ranges_count(const char *at, unsigned *count)
{
    while (isdigit((unsigned char)*at)) {
        char *end;
        const unsigned long first = strtoul(at, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (last < first || last - first >= PLM_WORLD_MOST)
            return NULL;
        *count += (unsigned)(last - first) + 1;
        if (*end == ']')
            return end + 1;
        if (*end != ',')
            return NULL;
        at = end + 1;
    }
    return NULL;
}

int plm_launcher_nodes(const char *list, unsigned *count, struct plm_error *error)
{
    const char *at = list;
    *count = 0;
    do {
        const size_t name = strcspn(at, "[,]");
        at += name;
        if (*at == '[') {
            at = ranges_count(at + 1, count);
            if (!at)
                return list_bad(list, error);
            at += strcspn(at, "[,]");
        } else if (name)
            (*count)++;
        else
            return list_bad(list, error);
        if (*count > PLM_WORLD_MOST || (*at && *at != ','))
            return list_bad(list, error);
    } while (*at++ == ',');
    return 0;
}

/* Nodes, and all their slots: at most one more than a world has. */
struct hosts {
    unsigned nodes, slots;
};

/* `number` NULL: it has one slot. */
static void host_add(struct hosts *h, const char *number)
{
    const unsigned long slots = number ? strtoul(number, NULL, 10) : 1;
    h->nodes += h->nodes <= PLM_WORLD_MOST;
    h->slots = h->slots > PLM_WORLD_MOST || slots > PLM_WORLD_MOST - h->slots ? PLM_WORLD_MOST + 1u
                                                                              : h->slots + (unsigned)slots;
}

static bool hosts_tell(const struct hosts *h, struct plm_launcher_line *out)
{
    if (!h->slots || h->slots > PLM_WORLD_MOST || h->nodes > PLM_WORLD_MOST)
        return false;
    out->nodes = h->nodes;
    out->world = out->world ? out->world : h->slots;
    return true;
}

/* "a:8,b:8": nodes, and all their slots; a node without a number has one. */
static int hosts_read(const char *list, struct plm_launcher_line *out, struct plm_error *error)
{
    struct hosts hosts = {0};
    char *copy = plm_strdup(list), *rest, *host;
    for (host = strtok_r(copy, ",", &rest); host; host = strtok_r(NULL, ",", &rest)) {
        const char *colon = strchr(host, ':');
        host_add(&hosts, colon ? colon + 1 : NULL);
    }
    free(copy);
    return hosts_tell(&hosts, out) ? 0 : list_bad(list, error);
}

/* A line for a node: "name slots=8", "name:8"; # begins a comment. */
static int host_file_read(const char *path, struct plm_launcher_line *out, struct plm_error *error)
{
    FILE *file = fopen(path, "re");
    char line[1024];
    struct hosts hosts = {0};
    if (!file)
        return plm_fail(error, PLM_EINVAL, "the list of nodes '%.200s' cannot be read: %s", path, strerror(errno));
    while (plm_input_line(file, line, sizeof line)) {
        const char *mark;
        line[strcspn(line, "#")] = '\0';
        if (!line[strspn(line, " \t\r")])
            continue;
        mark = strstr(line, "slots=");
        mark = mark ? mark + 6 : strchr(line, ':') ? strchr(line, ':') + 1 : NULL;
        host_add(&hosts, mark);
    }
    fclose(file);
    if (!hosts_tell(&hosts, out))
        return plm_fail(error, PLM_EINVAL, "the list of nodes '%.200s' cannot be read: it must name 1 to %d slots",
                        path, PLM_WORLD_MOST);
    return 0;
}

/* What was read besides the line itself. */
struct reading {
    bool module, no_python, use_env;
    struct plm_runtime_env env;
};

static int tell(const struct plm_launcher_option *o, struct plm_launcher_line *out, struct reading *r,
                struct plm_error *error)
{
    const char *value = o->value ? o->value : "", *colon; /* options that take none have none */
    switch (o->told) {
    case PLM_TOLD_NOTHING: return 0;
    case PLM_TOLD_TASKS: return number_read(o->name, value, &out->world, error);
    case PLM_TOLD_NODES: return most_read(o->name, value, &out->nodes, error);
    case PLM_TOLD_PER_NODE: return most_read(o->name, value, &out->per_node, error);
    case PLM_TOLD_GPUS:
        colon = strrchr(value, ':');
        return number_read(o->name, colon ? colon + 1 : value, &out->per_node, error);
    case PLM_TOLD_NODE_LIST: return plm_launcher_nodes(value, &out->nodes, error);
    case PLM_TOLD_HOSTS: return hosts_read(value, out, error);
    case PLM_TOLD_HOST_FILE: return host_file_read(value, out, error);
    case PLM_TOLD_PORT: return port_read(value, &out->port, error);
    case PLM_TOLD_MODULE: r->module = true; return 0;
    case PLM_TOLD_NO_PYTHON: r->no_python = true; return 0;
    case PLM_TOLD_USE_ENV: r->use_env = true; return 0;
    case PLM_TOLD_EXPORT:
        if (strchr(value, '='))
            plm_runtime_env_variable(&r->env, value);
        return 0;
    case PLM_TOLD_FOLDER: plm_runtime_env_folder(&r->env, value); return 0;
    case PLM_TOLD_RUNTIME_ENV:
        return plm_runtime_env_read("--runtime-env-json", value, strlen(value), &r->env, error) ? PLM_EINVAL : 0;
    case PLM_TOLD_RUNTIME_ENV_FILE: return plm_runtime_env_file(value, &r->env, error) ? PLM_EINVAL : 0;
    }
    return 0;
}

/* Reads the options behind the launcher's name. The place of the first word that is none, or an error. */
static int options_read(const struct plm_launcher_style *style, char *const *command, struct plm_launcher_line *out,
                        struct reading *r, struct plm_error *error)
{
    int at = 1 + plm_launcher_verbs(style);
    while (command[at] && command[at][0] == '-' && command[at][1]) {
        struct plm_launcher_option option;
        int status;
        if (!strcmp(command[at], "--"))
            return at + 1;
        status = plm_launcher_option_read(style, out->name, command, &at, &option, error);
        if (!status)
            status = tell(&option, out, r, error);
        if (status)
            return status;
    }
    return at;
}

/* ---- lines ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_python(const char *word)
{
    const char *name = base_name(word);
    return !strncmp(name, "python", 6) && name[strspn(name, "pythonw0123456789.")] == '\0';
}

/* The Python beside torchrun, as an environment has it; else that of its first line; else the one that PATH has. */
static char *python_of(const char *torchrun)
{
    const char *slash = strrchr(torchrun, '/'), *path = getenv("PATH");
    char *python, *copy, *rest;
    if (slash) {
        python = plm_asprintf("%.*s/python", (int)(slash - torchrun), torchrun);
        if (!access(python, X_OK))
            return python;
        free(python);
        return plm_strdup("python");
    }
    copy = plm_strdup(path ? path : "");
    for (char *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
        char *program = plm_asprintf("%s/%s", folder, torchrun);
        const bool there = !access(program, X_OK);
        free(program);
        if (!there)
            continue;
        python = plm_asprintf("%s/python", folder);
        free(copy);
        if (!access(python, X_OK))
            return python;
        free(python);
        return plm_strdup("python");
    }
    free(copy);
    return plm_strdup("python");
}

/* The words of a line in the making; each is a copy. */
struct words {
    char **word;
    size_t count, room;
};

static void word_add(struct words *w, const char *text)
{
    w->word = plm_grow(w->word, w->count, &w->room, sizeof *w->word);
    w->word[w->count++] = plm_strdup(text);
}

static void words_add(struct words *w, char *const *words)
{
    for (; *words; words++)
        word_add(w, *words);
}

static void words_end(struct words *w, struct plm_launcher_line *out)
{
    w->word = plm_grow(w->word, w->count, &w->room, sizeof *w->word);
    w->word[w->count] = NULL;
    plm_launcher_line_free(out);
    out->words = w->word;
}

static int nothing_to_start(const struct plm_launcher_line *out, struct plm_error *error)
{
    return plm_fail(error, PLM_EINVAL, "the line of %.40s has no command after its options", out->name);
}

/* torchrun's own line is [options] SCRIPT ...; `python` starts it, with these words of its own before. */
static int torchrun_line(char *const *line, char *const *python, size_t python_words, bool launch,
                         struct plm_launcher_line *out, struct plm_error *error)
{
    struct reading r = {0};
    struct words words = {0};
    const int at = options_read(plm_launcher_style_find("torchrun", line + 1), line, out, &r, error);
    if (at < 0)
        return at;
    if (!line[at])
        return nothing_to_start(out, error);
    if (!r.no_python) {
        for (size_t i = 0; i < python_words; i++)
            word_add(&words, python[i]);
        word_add(&words, "-u");
    }
    if (r.module)
        word_add(&words, "-m");
    word_add(&words, line[at]);
    if (launch && !r.use_env) {
        out->local_rank = (int)words.count;
        word_add(&words, "--local-rank=");
    }
    words_add(&words, line + at + 1);
    words_end(&words, out);
    return 0;
}

/* The launcher among the modules of Python: the place of its name after -m; 0: none. */
static int module_at(char *const *command)
{
    int at = 1;
    if (!is_python(command[0]))
        return 0;
    while (command[at] && command[at][0] == '-' && strcmp(command[at], "-m") != 0)
        at += (!strcmp(command[at], "-W") || !strcmp(command[at], "-X")) && command[at + 1] ? 2 : 1;
    if (!command[at] || strcmp(command[at], "-m") != 0 || !command[at + 1])
        return 0;
    return !strcmp(command[at + 1], "torch.distributed.run") || !strcmp(command[at + 1], "torch.distributed.launch")
               ? at + 1
               : 0;
}

/* srun and mpirun start any command, which may be a launcher again. */
static int started_line(const struct plm_launcher_style *style, char *const *command, struct plm_launcher_line *out,
                        struct reading *r, struct plm_error *error)
{
    struct words words = {0};
    const int at = options_read(style, command, out, r, error);
    if (at < 0)
        return at;
    if (!command[at])
        return nothing_to_start(out, error);
    for (int i = at; command[i] && plm_launcher_of(style) == PLM_LAUNCHER_MPIRUN; i++)
        if (!strcmp(command[i], ":"))
            return plm_fail(error, PLM_EINVAL, "several programs in one job (':' of %.40s) are not supported",
                            out->name);
    if (r->env.count || r->env.folder)
        word_add(&words, "env");
    if (r->env.folder) {
        word_add(&words, "-C");
        word_add(&words, r->env.folder);
    }
    for (size_t i = 0; i < r->env.count; i++)
        word_add(&words, r->env.variable[i]);
    words_add(&words, command + at);
    words_end(&words, out);
    return 0;
}

/* The options of env(1) that have a value; `takes`: it may be the next word. */
static bool env_value(const char *word, bool *takes)
{
    static const char *const names[] = {"-C", "--chdir", "-u", "--unset"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strncmp(word, names[i], strlen(names[i]))) {
            const char *rest = word + strlen(names[i]);
            *takes = !*rest;
            return !*rest || *rest == '=' || word[1] != '-';
        }
    return false;
}

/* How many words env(1) has to itself before the command that it starts; 0: it is not env, or is told what we do not know. */
static size_t env_words(char *const *command)
{
    size_t at = 1;
    if (strcmp(base_name(command[0]), "env") != 0)
        return 0;
    for (; command[at] && command[at][0] == '-'; at++) {
        bool takes = false;
        if (!strcmp(command[at], "--")) {
            at++;
            break;
        }
        if (!env_value(command[at], &takes) && strcmp(command[at], "-") != 0 && strcmp(command[at], "-i") != 0 &&
            strcmp(command[at], "--ignore-environment") != 0)
            return 0;
        if (takes && command[at + 1])
            at++;
    }
    while (command[at] && strchr(command[at], '='))
        at++;
    return command[at] ? at : 0;
}

static int line_read(char *const *command, struct plm_launcher_line *out, struct plm_error *error);

/* env(1), which starts a launcher: it stays before what a rank runs. */
static int env_line(char *const *command, size_t own, struct plm_launcher_line *out, struct plm_error *error)
{
    struct words words = {0};
    const int status = line_read(command + own, out, error);
    if (status)
        return status;
    for (size_t i = 0; i < own; i++)
        word_add(&words, command[i]);
    words_add(&words, out->words);
    out->local_rank += out->local_rank ? (int)own : 0;
    words_end(&words, out);
    return 0;
}

static int line_read(char *const *command, struct plm_launcher_line *out, struct plm_error *error)
{
    const struct plm_launcher_style *style = plm_launcher_style_find(base_name(command[0]), command + 1);
    const int module = style ? 0 : module_at(command);
    const size_t env = env_words(command);
    char *python;
    int status;
    if (env)
        return env_line(command, env, out, error);
    if (!style && !module)
        return PLM_ENOTFOUND;
    snprintf(out->name, sizeof out->name, "%s", style ? base_name(command[0]) : command[module]);
    out->launcher = style ? plm_launcher_of(style) : PLM_LAUNCHER_TORCHRUN;
    if (module)
        return torchrun_line(command + module, command, (size_t)module - 1, strstr(command[module], "launch") != NULL,
                             out, error);
    if (plm_launcher_of(style) != PLM_LAUNCHER_TORCHRUN) {
        struct reading r = {0};
        status = started_line(style, command, out, &r, error);
        plm_runtime_env_free(&r.env);
        return status;
    }
    python = python_of(command[0]);
    status = torchrun_line(command, &python, 1, false, out, error);
    free(python);
    return status;
}

/* What a launcher says that another one starts: srun one torchrun on each node. */
static int nested_read(struct plm_launcher_line *out, struct plm_error *error)
{
    struct plm_launcher_line inner = {0};
    char **outer = out->words;
    int status = line_read(outer, &inner, error);
    if (status == PLM_ENOTFOUND)
        return 0;
    if (status)
        return status;
    inner.nodes = inner.nodes ? inner.nodes : out->nodes;
    inner.port = inner.port ? inner.port : out->port;
    plm_launcher_line_free(out);
    *out = inner;
    return 0;
}

static int line_multiply(struct plm_launcher_line *out, struct plm_error *error)
{
    const unsigned nodes = out->nodes ? out->nodes : out->launcher == PLM_LAUNCHER_TORCHRUN ? 1 : 0;
    if (out->world || !nodes || !out->per_node)
        return 0;
    if (nodes > PLM_WORLD_MOST / out->per_node)
        return plm_fail(error, PLM_EINVAL, "the launcher's line asks for more than %d ranks", PLM_WORLD_MOST);
    out->world = nodes * out->per_node;
    return 0;
}

int plm_launcher_read(char *const *command, struct plm_launcher_line *out, struct plm_error *error)
{
    int status;
    *out = (struct plm_launcher_line){0};
    status = line_read(command, out, error);
    if (status == PLM_ENOTFOUND)
        return 0;
    if (!status && out->launcher != PLM_LAUNCHER_TORCHRUN)
        status = nested_read(out, error);
    if (!status)
        status = line_multiply(out, error);
    if (status)
        plm_launcher_line_free(out);
    return status;
}

char *const *plm_launcher_words(struct plm_launcher_line *line, const struct plm_world_rank *rank)
{
    if (line->local_rank) {
        free(line->words[line->local_rank]);
        line->words[line->local_rank] = plm_asprintf("--local-rank=%u", plm_world_rank_local(rank));
    }
    return line->words;
}

void plm_launcher_line_free(struct plm_launcher_line *line)
{
    for (size_t i = 0; line->words && line->words[i]; i++)
        free(line->words[i]);
    free(line->words);
    line->words = NULL;
}
