#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/input.h"

enum { TICK_MS = 100, LOOK_MS = 10, NOT_TOLD = 125, NOT_STARTED = 127 };

/* ---- starting ---- */

/* Where the streams of a child go; -1: where ours go. */
struct streams {
    int in, out, err;
};

static int streams_open(const struct plm_child *child, struct streams *s)
{
    *s = (struct streams){-1, -1, -1};
    if (!child->log)
        return 0;
    s->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    s->out = s->err = open(child->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return s->in < 0 || s->out < 0 ? errno : 0;
}

static void streams_close(const struct streams *s)
{
    if (s->in >= 0)
        close(s->in);
    if (s->out >= 0)
        close(s->out);
    if (s->err >= 0 && s->err != s->out)
        close(s->err);
}

/* Returns only if the command could not be started. */
static void become(const struct plm_child *child, const struct streams *s, pid_t parent)
{
    const int from[] = {s->in, s->out, s->err};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* it ended before that */
        raise(SIGTERM);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (from[fd] >= 0 && dup2(from[fd], fd) < 0)
            return;
    if (child->prepare)
        child->prepare(child->context);
    if (child->body)
        _exit(child->body(child->context));
    if (child->self)
        execv("/proc/self/exe", (char *const *)child->words);
    else
        execvp(child->words[0], (char *const *)child->words);
}

/* A channel that exec closes tells whether the command was started. For a body it is closed when it ends, so that is
   not waited for. */
static pid_t child_start(const struct plm_child *child, const struct streams *s, bool group, int *failure)
{
    const pid_t parent = getpid();
    int channel[2], code = 0;
    pid_t pid;
    *failure = 0;
    if (pipe2(channel, O_CLOEXEC)) {
        *failure = errno;
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        if (group)
            setpgid(0, 0);
        become(child, s, parent);
        code = errno;
        _exit(write(channel[1], &code, sizeof code) < 0 ? NOT_TOLD : NOT_STARTED);
    }
    if (pid < 0)
        *failure = errno;
    close(channel[1]);
    if (pid > 0 && !child->body && read(channel[0], &code, sizeof code) == sizeof code) {
        *failure = code;
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        pid = -1;
    }
    close(channel[0]);
    return pid;
}

pid_t plm_child_start(const struct plm_child *child, int *failure)
{
    struct streams s;
    pid_t pid = -1;
    *failure = streams_open(child, &s);
    if (!*failure)
        pid = child_start(child, &s, false, failure);
    streams_close(&s);
    return pid;
}

/* ---- waiting ---- */

enum { PASSED = 6 };
static const int passed[PASSED] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static struct sigaction before[PASSED]; /* what was done about them until they were passed on */
static volatile sig_atomic_t awaited, interrupted;

/* Whoever sends SIGTERM (a scheduler, say) will not wait long for what is known. */
enum { GRACE_SECONDS = 5 };

static void overdue(int number)
{
    (void)number;
    if (awaited > 0)
        kill((pid_t)awaited, SIGKILL);
}

/* The terminal sends its signals to the command too; what another process sends only to us is passed on. Without a
   command they are ours again, so that a long report can be ended. */
static void forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    interrupted |= number != SIGUSR1 && number != SIGUSR2;
    if (awaited > 0) {
        if (info->si_code <= 0)
            kill((pid_t)awaited, number);
        if (number == SIGTERM)
            alarm(GRACE_SECONDS);
        return;
    }
    for (int i = 0; i < PASSED && number != SIGUSR1 && number != SIGUSR2; i++)
        if (passed[i] == number) {
            sigaction(number, &before[i], NULL);
            raise(number);
        }
}

void plm_child_forward_signals(void)
{
    const struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction now;
    sigaction(SIGALRM, &(const struct sigaction){.sa_handler = overdue, .sa_flags = SA_RESTART}, NULL);
    for (int i = 0; i < PASSED; i++) {
        /* What is ignored stays so, for the command too: nohup asks for that. */
        if (sigaction(passed[i], NULL, &now) || now.sa_flags & SA_SIGINFO || now.sa_handler == SIG_IGN)
            continue;
        before[i] = now;
        sigaction(passed[i], &action, NULL);
    }
}

bool plm_child_interrupted(void)
{
    return interrupted;
}

int plm_child_wait(pid_t pid, void (*tick)(void *), void *context)
{
    struct pollfd end = {.fd = tick ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
                         .events = POLLIN}; /* -1: it just waits */
    pid_t ended = 0;
    int status = 0;
    awaited = pid;
    while ((ended = waitpid(pid, &status, tick ? WNOHANG : 0)) == 0 || (ended < 0 && errno == EINTR))
        if (tick) {
            tick(context);
            poll(&end, 1, TICK_MS);
        }
    if (end.fd >= 0)
        close(end.fd);
    awaited = 0;
    alarm(0);
    return status;
}

/* ---- listening ---- */

double plm_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What does not fit is read and dropped. False at the end. */
static bool read_some(int fd, char *answer, size_t size, size_t *length)
{
    char more[4096];
    ssize_t n = read(fd, more, sizeof more);
    size_t room = size - 1 - *length, kept;
    if (n <= 0)
        return n < 0 && errno == EINTR;
    kept = (size_t)n < room ? (size_t)n : room;
    memcpy(answer + *length, more, kept);
    *length += kept;
    return true;
}

/* Until the child has ended and said all. What its own children go on to say is not waited for. */
static int listen_to(pid_t pid, int fd, double until, char *answer, size_t size, int *failure)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool ended = false;
    size_t length = 0;
    int status = -1;
    while (wait.fd >= 0 || !ended) {
        const int ready = poll(&wait, 1, LOOK_MS);
        if (ready > 0 && !read_some(fd, answer, size, &length))
            wait.fd = -1;
        else if (ready == 0 && ended)
            break;
        ended = ended || waitpid(pid, &status, WNOHANG) == pid;
        if (!ended && plm_now() > until) {
            *failure = ETIMEDOUT;
            kill(-pid, SIGKILL);
            ended = waitpid(pid, &status, 0) == pid;
        }
    }
    answer[length] = '\0';
    return status;
}

int plm_child_ask(const struct plm_child *child, int seconds, char *answer, size_t size, int *failure)
{
    struct streams s = {-1, -1, -1};
    int channel[2], status;
    pid_t pid;
    answer[0] = '\0';
    if (pipe2(channel, O_CLOEXEC)) {
        *failure = errno;
        return -1;
    }
    s.in = open("/dev/null", O_RDWR | O_CLOEXEC);
    s.out = channel[1];
    s.err = child->errors ? s.out : s.in;
    pid = child_start(child, &s, true, failure);
    close(s.in);
    close(s.out);
    status = pid < 0 ? -1 : listen_to(pid, channel[0], plm_now() + seconds, answer, size, failure);
    close(channel[0]);
    return status;
}

/* Of plimsoll, that the command failed says less than what the command said itself, unless it says how early. */
static bool is_about_command(const char *text)
{
    return (!strncmp(text, "the command failed", 18) || !strncmp(text, "the command was killed", 22)) &&
           !strstr(text, " before it imported torch");
}

void plm_child_last_line(FILE *output, bool own, char out[PLM_LAST_LINE])
{
    static const char prefix[] = "plimsoll: ";
    char line[1024], said[PLM_LAST_LINE] = "";
    bool ended = false; /* what follows is a report of what was recorded */
    out[0] = '\0';
    while (output && plm_input_line(output, line, sizeof line)) {
        const bool ours = !strncmp(line, prefix, sizeof prefix - 1);
        line[strcspn(line, "\r\n")] = '\0';
        for (char *c = line; *c; c++)
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        if (ended)
            continue;
        if (ours) {
            snprintf(said, sizeof said, "%.180s", line + sizeof prefix - 1);
            ended = is_about_command(said);
        } else if (*line)
            snprintf(out, PLM_LAST_LINE, "%.180s", line);
    }
    if (output)
        fclose(output);
    if (said[0] && (!out[0] || (own && !is_about_command(said))))
        memcpy(out, said, sizeof said);
}
