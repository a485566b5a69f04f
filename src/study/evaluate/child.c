/* What a child of the bench is made of: the workload's command, its output in a file, `plimsoll run`. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study/evaluate/bench.h"

void plm_bench_command(const struct plm_bench *bench, size_t index, struct plm_command *c)
{
    const struct plm_bench_settings *s = bench->settings;
    const struct plm_bench_run *run = &bench->run[index];
    int n = 0;
    snprintf(c->script, sizeof c->script, "%.3800s/%.200s", s->workloads->folder, run->workload->script);
    snprintf(c->batch, sizeof c->batch, "%llu", (unsigned long long)run->row->batch);
    snprintf(c->mode, sizeof c->mode, "%d", run->row->zero_grad);
    const char *const words[] = {s->python, c->script, "--model", run->row->model, "--batch", c->batch};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        c->word[n++] = words[i];
    if (*run->row->optimizer) {
        c->word[n++] = "--optimizer";
        c->word[n++] = run->row->optimizer;
    }
    if (run->row->zero_grad != PLM_TRUTH_ZERO_GRAD_UNKNOWN) {
        c->word[n++] = "--zero-grad";
        c->word[n++] = c->mode;
    }
    c->word[n] = NULL;
}

void plm_child_quiet(const char *log)
{
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(126);
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        dup2(fd, STDIN_FILENO);
}

/* Of plimsoll, that the command failed says less than what the command said itself. */
static bool is_about_command(const char *text)
{
    return !strncmp(text, "the command failed", 18) || !strncmp(text, "the command was killed", 22);
}

void plm_last_line(const char *log, bool own, char out[PLM_LAST_LINE])
{
    static const char prefix[] = "plimsoll: ";
    char line[1024], said[PLM_LAST_LINE] = "";
    FILE *file = fopen(log, "re");
    out[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const bool ours = !strncmp(line, prefix, sizeof prefix - 1);
        line[strcspn(line, "\r\n")] = '\0';
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        if (ours)
            snprintf(said, PLM_LAST_LINE, "%.150s", line + sizeof prefix - 1);
        else if (*line)
            snprintf(out, PLM_LAST_LINE, "%.150s", line);
    }
    if (file)
        fclose(file);
    if (said[0] && (!out[0] || (own && !is_about_command(said))))
        memcpy(out, said, PLM_LAST_LINE);
}

_Noreturn void plm_child_record(const struct plm_bench *bench, size_t run)
{
    char record[4096], log[4096];
    struct plm_command command;
    const char *word[48];
    int n = 0;
    plm_bench_path(bench, run, "plm", record, sizeof record);
    plm_bench_path(bench, run, "log", log, sizeof log);
    plm_bench_command(bench, run, &command);
    const char *const first[] = {"plimsoll", "run", "--gpu", bench->run[run].card, "--until-exit", "--detail", "low",
                                 "-f",       "-o",  record};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        word[n++] = first[i];
    if (bench->settings->stack) {
        word[n++] = "--stack";
        word[n++] = bench->settings->stack;
    }
    word[n++] = "--";
    for (int i = 0; command.word[i]; i++)
        word[n++] = command.word[i];
    word[n] = NULL;
    plm_child_quiet(log);
    execv("/proc/self/exe", (char *const *)word);
    _exit(127);
}
