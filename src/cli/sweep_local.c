/*
 * Runs of a sweep on this machine: a few worker processes, each of which makes one run after the other. A worker is a
 * fork of this program; what it is to run comes over a socket, and what that came to goes back. So replays and reports
 * of several runs are made at the same time too, and a worker can keep a process to fork Pythons from (server.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "base/child.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/server.h"
#include "cli/sweep.h"
#include "sweep/command.h"

enum { NO_POINT = -1, WORKERS_MOST = 256, TICK = 200 };

struct worker {
    pid_t pid; /* 0: there is none */
    int fd;
    long point; /* that it runs; NO_POINT */
};

struct local {
    const struct plm_cli_sweep_work *work;
    struct worker worker[WORKERS_MOST];
    int workers;
    char *answer; /* of a worker: a point, its cells, and what is usable of each card */
    size_t size;
};

struct question {
    char value[PLM_SWEEP_PARAMETERS][PLM_SWEEP_TEXT];
};

/* The parts of an answer. */
static struct plm_sweep_cell *answer_cells(char *answer)
{
    return (struct plm_sweep_cell *)(void *)(answer + sizeof(struct plm_sweep_point));
}

static uint64_t *answer_usable(char *answer, size_t cards)
{
    return (uint64_t *)(void *)(answer_cells(answer) + cards);
}

/* ---- in a worker ---- */

struct task {
    const struct plm_cli_sweep_work *work;
    char *answer;
    char prefix[PLM_SCRATCH + 64], log[PLM_SCRATCH + 64], record[PLM_SCRATCH + 64];
    struct plm_forks forks;
    const char *cold; /* why there can be no forks; NULL: there may be */
    bool judged;
};

static struct plm_sweep_point *task_point(const struct task *t)
{
    return (struct plm_sweep_point *)(void *)t->answer;
}

static void task_fail(struct task *t, const char *why)
{
    struct plm_sweep_point *point = task_point(t);
    point->state = PLM_SWEEP_FAILED;
    snprintf(point->why, sizeof point->why, "%s", why);
}

/* In place of the report. */
static int task_judge(const struct plm_run_end *end, void *context)
{
    struct task *t = context;
    struct plm_sweep_point *point = task_point(t);
    const struct plm_sweep_question *q = &t->work->question;
    struct plm_error error;
    if (end->result)
        return end->result;
    t->judged = true;
    point->cell = answer_cells(t->answer);
    point->state = PLM_SWEEP_DONE;
    if (plm_sweep_judge(q, end->job, end->works, point, answer_usable(t->answer, q->cards), &error) < 0)
        task_fail(t, error.text);
    return PLM_EXIT_OK;
}

static void output_lead(const char *log)
{
    const int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    fflush(NULL);
    if (file < 0)
        return;
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
}

static void environment_set(char *const *variables)
{
    for (; *variables; variables++) {
        char *name = plm_strdup(*variables), *equals = strchr(name, '=');
        *equals = '\0';
        setenv(name, equals + 1, 1);
        free(name);
    }
}

/* A variable of the environment is read when Python starts, and by imports. */
static const char *cold_why(const struct plm_sweep_parameters *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i].where == PLM_SWEEP_ENVIRONMENT && all->item[i].values > 1)
            return "a variable of the environment differs";
    return NULL;
}

static void cold_tell(struct task *t)
{
    struct plm_sweep_point *point = task_point(t);
    point->forked = !t->cold && t->forks.forked;
    if (!point->forked)
        snprintf(point->cold, sizeof point->cold, "%s",
                 t->cold         ? t->cold
                 : t->forks.cold ? "the command is no script that Python runs"
                                 : "its imports, or how Python is started, cannot be shared");
}

static void command_run(struct task *t, char **command)
{
    struct plm_run one = *t->work->run;
    char line[PLM_LAST_LINE];
    int status;
    one.output = t->record;
    one.force = one.keep = true;
    one.forks = t->cold ? NULL : &t->forks;
    output_lead(t->log);
    status = plm_run_command(&one, command, task_judge, t);
    fflush(NULL);
    cold_tell(t);
    if (t->judged)
        return;
    plm_child_last_line(fopen(t->log, "re"), true, line);
    if (!line[0])
        snprintf(line, sizeof line, "it ended with status %d of `plimsoll run`", status);
    task_fail(t, line);
}

static void task_run(struct task *t, struct question *q)
{
    const struct plm_cli_sweep_work *work = t->work;
    struct plm_sweep_command command;
    struct plm_error error;
    const double start = plm_now();
    t->judged = false;
    *task_point(t) = (struct plm_sweep_point){0};
    if (plm_sweep_command_make(&work->sweep->parameters, q->value, work->sweep->command, t->prefix, &command, &error) <
        0)
        task_fail(t, error.text);
    else {
        environment_set(command.environment);
        command_run(t, command.words);
        plm_sweep_command_free(&command);
    }
    task_point(t)->seconds = plm_now() - start;
}

struct start {
    struct local *local;
    int fd, other; /* its side of the socket, and ours */
    int number;
};

/* A socket ends when nobody has its other side: of ours and of other workers' a fork has copies. */
static void sockets_close(const struct start *s)
{
    close(s->other);
    for (int i = 0; i < s->local->workers; i++)
        if (i != s->number && s->local->worker[i].pid)
            close(s->local->worker[i].fd);
}

/* A worker has nothing to say at its end, whatever it waits for. */
static void signals_usual(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(numbers[i], &(const struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

static int worker_body(void *context)
{
    const struct start *s = context;
    const struct plm_cli_sweep_work *work = s->local->work;
    struct task task = {.work = work, .answer = s->local->answer};
    struct question question;
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    signals_usual();
    task.cold = cold_why(&work->sweep->parameters);
    task.forks.log = task.log;
    sockets_close(s);
    snprintf(task.prefix, sizeof task.prefix, "%.3800s/%d-", work->scratch, s->number);
    snprintf(task.log, sizeof task.log, "%.3800s/%d.log", work->scratch, s->number);
    snprintf(task.record, sizeof task.record, "%.3800s/%d.plm", work->scratch, s->number);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    while (recv(s->fd, &question, sizeof question, 0) == (ssize_t)sizeof question) {
        task_run(&task, &question);
        if (send(s->fd, task.answer, s->local->size, MSG_NOSIGNAL) < 0)
            break;
    }
    plm_forks_stop(&task.forks);
    return 0;
}

/* ---- the workers ---- */

static int worker_start(struct local *l, struct worker *w, struct plm_error *error)
{
    struct start start = {.local = l, .number = (int)(w - l->worker)};
    struct plm_child child = {.body = worker_body, .context = &start};
    int pair[2], failure;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return plm_fail(error, PLM_EIO, "cannot start a run: %s", strerror(errno));
    start.fd = pair[1];
    start.other = pair[0];
    w->pid = plm_child_start(&child, &failure);
    close(pair[1]);
    if (w->pid < 0) {
        w->pid = 0;
        close(pair[0]);
        return plm_fail(error, PLM_EIO, "cannot start a run: %s", strerror(failure));
    }
    w->fd = pair[0];
    w->point = NO_POINT;
    return 0;
}

static void worker_end(struct worker *w)
{
    if (!w->pid)
        return;
    close(w->fd); /* its last question */
    plm_child_wait(w->pid, NULL, NULL);
    w->pid = 0;
}

static int point_give(struct local *l, struct worker *w, size_t point, struct plm_error *error)
{
    struct question question = {0};
    int status = w->pid ? 0 : worker_start(l, w, error);
    if (status)
        return status;
    memcpy(question.value, l->work->sweep->point[point].value, sizeof question.value);
    if (send(w->fd, &question, sizeof question, MSG_NOSIGNAL) != (ssize_t)sizeof question)
        return plm_fail(error, PLM_EIO, "cannot start a run: %s", strerror(errno));
    w->point = (long)point;
    return 0;
}

/* A worker has answered, or has died of what it ran. */
static void point_take(struct local *l, struct worker *w)
{
    struct plm_sweep *s = l->work->sweep;
    struct plm_sweep_point *point = &s->point[w->point], told;
    const ssize_t n = recv(w->fd, l->answer, l->size, 0);
    if (n != (ssize_t)l->size) {
        point->state = PLM_SWEEP_FAILED;
        snprintf(point->why, sizeof point->why, "the process that ran it was ended");
        worker_end(w);
    } else {
        const uint64_t *usable = answer_usable(l->answer, s->cards);
        memcpy(&told, l->answer, sizeof told);
        memcpy(told.value, point->value, sizeof told.value);
        told.cell = point->cell;
        memcpy(told.cell, answer_cells(l->answer), s->cards * sizeof *told.cell);
        *point = told;
        if (told.cold[0])
            memcpy(s->cold, told.cold, sizeof told.cold);
        for (size_t i = 0; i < s->cards && told.state == PLM_SWEEP_DONE; i++)
            s->card[i].usable = usable[i];
    }
    w->point = NO_POINT;
}

static struct worker *worker_idle(struct local *l)
{
    for (int i = 0; i < l->workers; i++)
        if (!l->worker[i].pid || l->worker[i].point == NO_POINT)
            return &l->worker[i];
    return NULL;
}

static int workers_busy(const struct local *l)
{
    int busy = 0;
    for (int i = 0; i < l->workers; i++)
        busy += l->worker[i].pid && l->worker[i].point != NO_POINT;
    return busy;
}

/* Waits for a while, and takes what has ended. */
static void workers_hear(struct local *l)
{
    struct pollfd wait[WORKERS_MOST];
    for (int i = 0; i < l->workers; i++)
        wait[i] = (struct pollfd){.fd = l->worker[i].pid ? l->worker[i].fd : -1, .events = POLLIN};
    if (poll(wait, (nfds_t)l->workers, TICK) <= 0)
        return;
    for (int i = 0; i < l->workers; i++)
        if (wait[i].revents && l->worker[i].point != NO_POINT)
            point_take(l, &l->worker[i]);
}

/* ---- the back end ---- */

static int local_open(const struct plm_cli_sweep_work *work, void **state, struct plm_error *error)
{
    struct local *l = plm_calloc(1, sizeof *l);
    (void)error;
    l->work = work;
    l->workers = work->jobs < 1 ? 1 : work->jobs > WORKERS_MOST ? WORKERS_MOST : work->jobs;
    l->size =
        sizeof(struct plm_sweep_point) + work->question.cards * (sizeof(struct plm_sweep_cell) + sizeof(uint64_t));
    l->answer = plm_calloc(1, l->size);
    *state = l;
    return 0;
}

static int local_run(void *state, const size_t *point, size_t points, struct plm_error *error)
{
    struct local *l = state;
    size_t given = 0;
    int status = 0;
    while (status == 0 && !l->work->stopped(l->work->context) && (given < points || workers_busy(l))) {
        struct worker *idle = given < points ? worker_idle(l) : NULL;
        if (idle)
            status = point_give(l, idle, point[given++], error);
        else {
            workers_hear(l);
            l->work->ended(l->work->context);
        }
    }
    return status;
}

static void local_close(void *state)
{
    struct local *l = state;
    for (int i = 0; i < l->workers; i++)
        if (l->worker[i].pid && l->work->stopped(l->work->context))
            kill(l->worker[i].pid, SIGTERM);
    for (int i = 0; i < l->workers; i++)
        worker_end(&l->worker[i]);
    free(l->answer);
    free(l);
}

const struct plm_cli_sweep_engine plm_cli_sweep_local = {"local", local_open, local_run, local_close};
