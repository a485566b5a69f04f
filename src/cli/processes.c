#include "cli/processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct plm_processes_one process;
    bool of_job;
};

/* The name in it may hold anything, so fields are counted from its last parenthesis on: proc(5). */
static bool process_read(const char *pid, struct plm_processes_one *p)
{
    unsigned long long user, kernel;
    char path[64], text[1024];
    const char *rest;
    FILE *file;
    size_t n;
    int parent;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &p->state, &parent, &user, &kernel) != 4)
        return false;
    p->pid = (pid_t)strtol(pid, NULL, 10);
    p->parent = (pid_t)parent;
    p->ticks = user + kernel;
    return true;
}

static int processes_read(struct entry *of)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int count = 0;
    while (folder && count < PLM_PROCESSES && (entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && process_read(entry->d_name, &of[count].process))
            of[count++].of_job = false;
    if (folder)
        closedir(folder);
    return count;
}

/* The command and what descends from it. */
static void processes_mark(struct entry *of, int count, pid_t command)
{
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < count; i++) {
            bool ours = of[i].process.pid == command;
            for (int k = 0; k < count && !ours; k++)
                ours = of[k].of_job && of[k].process.pid == of[i].process.parent;
            more |= ours && !of[i].of_job;
            of[i].of_job = of[i].of_job || ours;
        }
    }
}

int plm_processes_of(pid_t command, const struct plm_processes_one **list)
{
    static struct entry all[PLM_PROCESSES];
    static struct plm_processes_one job[PLM_PROCESSES];
    const int count = processes_read(all);
    int found = 0;
    processes_mark(all, count, command);
    for (int i = 0; i < count; i++)
        if (all[i].of_job)
            job[found++] = all[i].process;
    *list = job;
    return found;
}
