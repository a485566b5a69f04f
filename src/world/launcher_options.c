#include "world/launcher_options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"

/* ---- tables ---- */

/* How many words follow an option; MAYBE: its value can only stand behind "=". */
enum takes { NO_VALUE, VALUE, TWO_VALUES, MAYBE };

struct row {
    const char *name;
    enum takes takes;
    enum plm_launcher_told told;
};

static const struct row torchrun_rows[] = {
    {"nnodes", VALUE, PLM_TOLD_NODES},
    {"nproc-per-node", VALUE, PLM_TOLD_PER_NODE},
    {"rdzv-backend", VALUE, PLM_TOLD_NOTHING},
    {"rdzv-endpoint", VALUE, PLM_TOLD_NOTHING},
    {"rdzv-id", VALUE, PLM_TOLD_NOTHING},
    {"rdzv-conf", VALUE, PLM_TOLD_NOTHING},
    {"standalone", NO_VALUE, PLM_TOLD_NOTHING},
    {"max-restarts", VALUE, PLM_TOLD_NOTHING},
    {"monitor-interval", VALUE, PLM_TOLD_NOTHING},
    {"start-method", VALUE, PLM_TOLD_NOTHING},
    {"event-log-handler", VALUE, PLM_TOLD_NOTHING},
    {"role", VALUE, PLM_TOLD_NOTHING},
    {"m", NO_VALUE, PLM_TOLD_MODULE},
    {"module", NO_VALUE, PLM_TOLD_MODULE},
    {"no-python", NO_VALUE, PLM_TOLD_NO_PYTHON},
    {"run-path", NO_VALUE, PLM_TOLD_NOTHING},
    {"log-dir", VALUE, PLM_TOLD_NOTHING},
    {"r", VALUE, PLM_TOLD_NOTHING},
    {"redirects", VALUE, PLM_TOLD_NOTHING},
    {"t", VALUE, PLM_TOLD_NOTHING},
    {"tee", VALUE, PLM_TOLD_NOTHING},
    {"log-line-prefix-template", VALUE, PLM_TOLD_NOTHING},
    {"local-ranks-filter", VALUE, PLM_TOLD_NOTHING},
    {"duplicate-stdout-filters", VALUE, PLM_TOLD_NOTHING},
    {"duplicate-stderr-filters", VALUE, PLM_TOLD_NOTHING},
    {"node-rank", VALUE, PLM_TOLD_NOTHING},
    {"master-addr", VALUE, PLM_TOLD_NOTHING},
    {"master-port", VALUE, PLM_TOLD_PORT},
    {"local-addr", VALUE, PLM_TOLD_NOTHING},
    {"logs-specs", VALUE, PLM_TOLD_NOTHING},
    {"numa-binding", VALUE, PLM_TOLD_NOTHING},
    {"signals-to-handle", VALUE, PLM_TOLD_NOTHING},
    {"shutdown-timeout", VALUE, PLM_TOLD_NOTHING},
    {"virtual-local-rank", NO_VALUE, PLM_TOLD_NOTHING},
    {"use-env", NO_VALUE, PLM_TOLD_USE_ENV},
    {0},
};

static const struct row srun_rows[] = {
    {"ntasks", VALUE, PLM_TOLD_TASKS},
    {"n", VALUE, PLM_TOLD_TASKS},
    {"nodes", VALUE, PLM_TOLD_NODES},
    {"N", VALUE, PLM_TOLD_NODES},
    {"ntasks-per-node", VALUE, PLM_TOLD_PER_NODE},
    {"tasks-per-node", VALUE, PLM_TOLD_PER_NODE},
    {"gpus-per-node", VALUE, PLM_TOLD_GPUS},
    {"nodelist", VALUE, PLM_TOLD_NODE_LIST},
    {"w", VALUE, PLM_TOLD_NODE_LIST},
    {"chdir", VALUE, PLM_TOLD_FOLDER},
    {"D", VALUE, PLM_TOLD_FOLDER},
    /* flags, and options whose value is optional */
    {"contiguous", NO_VALUE, PLM_TOLD_NOTHING},
    {"disable-status", NO_VALUE, PLM_TOLD_NOTHING},
    {"X", NO_VALUE, PLM_TOLD_NOTHING},
    {"exact", NO_VALUE, PLM_TOLD_NOTHING},
    {"exclusive", MAYBE, PLM_TOLD_NOTHING},
    {"external-launcher", MAYBE, PLM_TOLD_NOTHING},
    {"immediate", MAYBE, PLM_TOLD_NOTHING},
    {"I", MAYBE, PLM_TOLD_NOTHING},
    {"kill-on-bad-exit", MAYBE, PLM_TOLD_NOTHING},
    {"K", MAYBE, PLM_TOLD_NOTHING},
    {"label", NO_VALUE, PLM_TOLD_NOTHING},
    {"l", NO_VALUE, PLM_TOLD_NOTHING},
    {"multi-prog", NO_VALUE, PLM_TOLD_NOTHING},
    {"nice", MAYBE, PLM_TOLD_NOTHING},
    {"no-allocate", NO_VALUE, PLM_TOLD_NOTHING},
    {"Z", NO_VALUE, PLM_TOLD_NOTHING},
    {"no-kill", MAYBE, PLM_TOLD_NOTHING},
    {"k", MAYBE, PLM_TOLD_NOTHING},
    {"overcommit", NO_VALUE, PLM_TOLD_NOTHING},
    {"O", NO_VALUE, PLM_TOLD_NOTHING},
    {"overlap", NO_VALUE, PLM_TOLD_NOTHING},
    {"oversubscribe", NO_VALUE, PLM_TOLD_NOTHING},
    {"s", NO_VALUE, PLM_TOLD_NOTHING},
    {"preserve-env", NO_VALUE, PLM_TOLD_NOTHING},
    {"E", NO_VALUE, PLM_TOLD_NOTHING},
    {"propagate", MAYBE, PLM_TOLD_NOTHING},
    {"pty", MAYBE, PLM_TOLD_NOTHING},
    {"quiet", NO_VALUE, PLM_TOLD_NOTHING},
    {"Q", NO_VALUE, PLM_TOLD_NOTHING},
    {"quit-on-interrupt", NO_VALUE, PLM_TOLD_NOTHING},
    {"reboot", NO_VALUE, PLM_TOLD_NOTHING},
    {"resv-ports", MAYBE, PLM_TOLD_NOTHING},
    {"send-libs", MAYBE, PLM_TOLD_NOTHING},
    {"spread-job", NO_VALUE, PLM_TOLD_NOTHING},
    {"test-only", NO_VALUE, PLM_TOLD_NOTHING},
    {"unbuffered", NO_VALUE, PLM_TOLD_NOTHING},
    {"u", NO_VALUE, PLM_TOLD_NOTHING},
    {"use-min-nodes", NO_VALUE, PLM_TOLD_NOTHING},
    {"verbose", NO_VALUE, PLM_TOLD_NOTHING},
    {"v", NO_VALUE, PLM_TOLD_NOTHING},
    {"x11", MAYBE, PLM_TOLD_NOTHING},
    {0},
};

/* Of srun all others have a value: one letter each, or words. */
static const char srun_letters[] = "AaBbCcdeFfGiJLMmopqrSTtWx";
static const char *const srun_words[] = {
    "accel-bind",
    "account",
    "acctg-freq",
    "batch",
    "bb",
    "bbf",
    "bcast",
    "bcast-exclude",
    "begin",
    "cluster-constraint",
    "clusters",
    "comment",
    "compress",
    "constraint",
    "container",
    "container-id",
    "core-spec",
    "cores-per-socket",
    "cpu-bind",
    "cpu-freq",
    "cpus-per-gpu",
    "cpus-per-task",
    "deadline",
    "delay-boot",
    "dependency",
    "distribution",
    "epilog",
    "error",
    "exclude",
    "export",
    "extra",
    "extra-node-info",
    "gid",
    "gpu-bind",
    "gpu-freq",
    "gpus",
    "gpus-per-socket",
    "gpus-per-task",
    "gres",
    "gres-flags",
    "het-group",
    "hint",
    "input",
    "job-name",
    "jobid",
    "licenses",
    "mail-type",
    "mail-user",
    "mcs-label",
    "mem",
    "mem-bind",
    "mem-per-cpu",
    "mem-per-gpu",
    "mincpus",
    "mpi",
    "msg-timeout",
    "network",
    "nodefile",
    "ntasks-per-core",
    "ntasks-per-gpu",
    "ntasks-per-socket",
    "open-mode",
    "output",
    "partition",
    "power",
    "prefer",
    "priority",
    "profile",
    "prolog",
    "qos",
    "relative",
    "reservation",
    "signal",
    "slurmd-debug",
    "sockets-per-node",
    "task-epilog",
    "task-prolog",
    "thread-spec",
    "threads",
    "threads-per-core",
    "time",
    "time-min",
    "tmp",
    "treewidth",
    "tres-bind",
    "tres-per-task",
    "uid",
    "wait",
    "wait-for-switch",
    "wckey",
};

/* Open MPI's and MPICH's; either takes one or two dashes, as option_split() does. */
static const struct row mpirun_rows[] = {
    {"n", VALUE, PLM_TOLD_TASKS},
    {"np", VALUE, PLM_TOLD_TASKS},
    {"c", VALUE, PLM_TOLD_TASKS},
    {"N", VALUE, PLM_TOLD_PER_NODE},
    {"npernode", VALUE, PLM_TOLD_PER_NODE},
    {"ppn", VALUE, PLM_TOLD_PER_NODE},
    {"perhost", VALUE, PLM_TOLD_PER_NODE},
    {"H", VALUE, PLM_TOLD_HOSTS},
    {"host", VALUE, PLM_TOLD_HOSTS},
    {"hosts", VALUE, PLM_TOLD_HOSTS},
    {"hostfile", VALUE, PLM_TOLD_HOST_FILE},
    {"machinefile", VALUE, PLM_TOLD_HOST_FILE},
    {"f", VALUE, PLM_TOLD_HOST_FILE},
    {"x", VALUE, PLM_TOLD_EXPORT},
    {"mca", TWO_VALUES, PLM_TOLD_NOTHING},
    {"gmca", TWO_VALUES, PLM_TOLD_NOTHING},
    {"prtemca", TWO_VALUES, PLM_TOLD_NOTHING},
    {"pmixmca", TWO_VALUES, PLM_TOLD_NOTHING},
    {"genv", TWO_VALUES, PLM_TOLD_NOTHING},
    {"env", TWO_VALUES, PLM_TOLD_NOTHING},
    {"genvlist", VALUE, PLM_TOLD_NOTHING},
    {"envlist", VALUE, PLM_TOLD_NOTHING},
    {"genvall", NO_VALUE, PLM_TOLD_NOTHING},
    {"envall", NO_VALUE, PLM_TOLD_NOTHING},
    {"genvnone", NO_VALUE, PLM_TOLD_NOTHING},
    {"map-by", VALUE, PLM_TOLD_NOTHING},
    {"bind-to", VALUE, PLM_TOLD_NOTHING},
    {"rank-by", VALUE, PLM_TOLD_NOTHING},
    {"cpu-set", VALUE, PLM_TOLD_NOTHING},
    {"wdir", VALUE, PLM_TOLD_FOLDER},
    {"wd", VALUE, PLM_TOLD_FOLDER},
    {"prefix", VALUE, PLM_TOLD_NOTHING},
    {"path", VALUE, PLM_TOLD_NOTHING},
    {"output-filename", VALUE, PLM_TOLD_NOTHING},
    {"output", VALUE, PLM_TOLD_NOTHING},
    {"launcher", VALUE, PLM_TOLD_NOTHING},
    {"bootstrap", VALUE, PLM_TOLD_NOTHING},
    {"iface", VALUE, PLM_TOLD_NOTHING},
    {"timeout", VALUE, PLM_TOLD_NOTHING},
    {"stdin", VALUE, PLM_TOLD_NOTHING},
    {"tune", VALUE, PLM_TOLD_NOTHING},
    {"allow-run-as-root", NO_VALUE, PLM_TOLD_NOTHING},
    {"oversubscribe", NO_VALUE, PLM_TOLD_NOTHING},
    {"nooversubscribe", NO_VALUE, PLM_TOLD_NOTHING},
    {"use-hwthread-cpus", NO_VALUE, PLM_TOLD_NOTHING},
    {"bycore", NO_VALUE, PLM_TOLD_NOTHING},
    {"bynode", NO_VALUE, PLM_TOLD_NOTHING},
    {"bind-to-none", NO_VALUE, PLM_TOLD_NOTHING},
    {"report-bindings", NO_VALUE, PLM_TOLD_NOTHING},
    {"display-map", NO_VALUE, PLM_TOLD_NOTHING},
    {"display-allocation", NO_VALUE, PLM_TOLD_NOTHING},
    {"tag-output", NO_VALUE, PLM_TOLD_NOTHING},
    {"timestamp-output", NO_VALUE, PLM_TOLD_NOTHING},
    {"prepend-rank", NO_VALUE, PLM_TOLD_NOTHING},
    {"l", NO_VALUE, PLM_TOLD_NOTHING},
    {"q", NO_VALUE, PLM_TOLD_NOTHING},
    {"quiet", NO_VALUE, PLM_TOLD_NOTHING},
    {"v", NO_VALUE, PLM_TOLD_NOTHING},
    {"verbose", NO_VALUE, PLM_TOLD_NOTHING},
    {"do-not-launch", NO_VALUE, PLM_TOLD_NOTHING},
    {"enable-recovery", NO_VALUE, PLM_TOLD_NOTHING},
    {0},
};

/* `ray job submit`, which starts one command; that makes the workers. */
static const struct row ray_rows[] = {
    {"working-dir", VALUE, PLM_TOLD_FOLDER},
    {"address", VALUE, PLM_TOLD_NOTHING},
    {"job-id", VALUE, PLM_TOLD_NOTHING},
    {"submission-id", VALUE, PLM_TOLD_NOTHING},
    {"runtime-env", VALUE, PLM_TOLD_RUNTIME_ENV_FILE},
    {"runtime-env-json", VALUE, PLM_TOLD_RUNTIME_ENV},
    {"metadata-json", VALUE, PLM_TOLD_NOTHING},
    {"entrypoint-num-cpus", VALUE, PLM_TOLD_NOTHING},
    {"entrypoint-num-gpus", VALUE, PLM_TOLD_NOTHING},
    {"entrypoint-memory", VALUE, PLM_TOLD_NOTHING},
    {"entrypoint-resources", VALUE, PLM_TOLD_NOTHING},
    {"entrypoint-label-selector", VALUE, PLM_TOLD_NOTHING},
    {"no-wait", NO_VALUE, PLM_TOLD_NOTHING},
    {"verify", VALUE, PLM_TOLD_NOTHING},
    {"headers", VALUE, PLM_TOLD_NOTHING},
    {"log-style", VALUE, PLM_TOLD_NOTHING},
    {"log-color", VALUE, PLM_TOLD_NOTHING},
    {"verbose", NO_VALUE, PLM_TOLD_NOTHING},
    {"v", NO_VALUE, PLM_TOLD_NOTHING},
    {0},
};

struct plm_launcher_style {
    const char *names; /* with blanks around each */
    enum plm_launcher launcher;
    const struct row *rows;
    bool letters;       /* "-n4" is an option and its value */
    bool abbreviations; /* of long options, where they are clear */
    const char *verb[2]; /* words before the options; NULL: no such word */
};

static const struct plm_launcher_style styles[] = {
    {" torchrun ", PLM_LAUNCHER_TORCHRUN, torchrun_rows, .letters = true, .abbreviations = true},
    {" srun ", PLM_LAUNCHER_SRUN, srun_rows, .letters = true, .abbreviations = true},
    {" mpirun mpiexec orterun mpiexec.hydra ", PLM_LAUNCHER_MPIRUN, mpirun_rows, .letters = false},
    {" ray ", PLM_LAUNCHER_RAY, ray_rows, .verb = {"job", "submit"}},
};

/* ---- options ---- */

static bool is_srun_value(const char *name)
{
    if (strlen(name) == 1)
        return strchr(srun_letters, name[0]) != NULL;
    for (size_t i = 0; i < sizeof srun_words / sizeof srun_words[0]; i++)
        if (!strcmp(srun_words[i], name))
            return true;
    return false;
}

/* The row of an option; with abbreviations, the only one that begins so. */
static bool row_find(const struct plm_launcher_style *style, const char *name, struct row *out)
{
    const struct row *found = NULL;
    int alike = 0;
    for (const struct row *r = style->rows; r->name; r++) {
        if (!strcmp(r->name, name)) {
            *out = *r;
            return true;
        }
        if (style->abbreviations && strlen(name) > 1 && !strncmp(r->name, name, strlen(name))) {
            found = r;
            alike++;
        }
    }
    if (style->launcher == PLM_LAUNCHER_SRUN && is_srun_value(name)) {
        *out = (struct row){name, VALUE, PLM_TOLD_NOTHING};
        return true;
    }
    if (alike == 1)
        *out = *found;
    return alike == 1;
}

/* Takes a word apart: --name=value, -n4, -n=4. */
static void option_split(const struct plm_launcher_style *style, const char *word, struct plm_launcher_option *o)
{
    const bool two = word[1] == '-';
    const char *name = word + (two ? 2 : 1), *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    o->value = equals ? equals + 1 : NULL;
    if (!two && style->letters) {
        o->value = name[1] == '=' ? name + 2 : name[1] ? name + 1 : NULL;
        length = 1;
    }
    snprintf(o->name, sizeof o->name, "%.*s", (int)length, name);
    for (char *c = o->name; *c && style->launcher == PLM_LAUNCHER_TORCHRUN; c++)
        *c = *c == '_' ? '-' : *c;
}

/* The value of an option, from its own word or those after it, of which `at` becomes the last. */
static int value_take(char *const *command, int *at, enum takes takes, struct plm_launcher_option *o,
                      struct plm_error *error)
{
    if (takes == NO_VALUE && o->value && command[*at][1] != '-')
        o->value = NULL; /* "-lu": letters of flags, of which none tells anything here */
    if ((takes != VALUE || o->value) && takes != TWO_VALUES)
        return 0;
    o->value = command[++*at];
    if (o->value && takes == TWO_VALUES && !command[++*at])
        o->value = NULL;
    return o->value ? 0 : plm_fail(error, PLM_EINVAL, "the launcher's option --%s needs a value", o->name);
}

int plm_launcher_option_read(const struct plm_launcher_style *style, const char *launcher, char *const *command,
                             int *at, struct plm_launcher_option *out, struct plm_error *error)
{
    struct row row;
    int status;
    option_split(style, command[*at], out);
    if (!row_find(style, out->name, &row))
        return plm_fail(error, PLM_EINVAL,
                        "the option '%.60s' of %.40s is not supported; leave the launcher out and use --world",
                        command[*at], launcher);
    out->told = row.told;
    status = value_take(command, at, row.takes, out, error);
    ++*at;
    return status;
}

int plm_launcher_verbs(const struct plm_launcher_style *style)
{
    int verbs = 0;
    while (verbs < (int)(sizeof style->verb / sizeof style->verb[0]) && style->verb[verbs])
        verbs++;
    return verbs;
}

static bool verbs_follow(const struct plm_launcher_style *style, char *const *words)
{
    for (int i = 0; i < plm_launcher_verbs(style); i++)
        if (!words[i] || strcmp(words[i], style->verb[i]) != 0)
            return false;
    return true;
}

const struct plm_launcher_style *plm_launcher_style_find(const char *program, char *const *words)
{
    char name[64];
    snprintf(name, sizeof name, " %.60s ", program);
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        if (strstr(styles[i].names, name) && verbs_follow(&styles[i], words))
            return &styles[i];
    return NULL;
}

enum plm_launcher plm_launcher_of(const struct plm_launcher_style *style)
{
    return style->launcher;
}
