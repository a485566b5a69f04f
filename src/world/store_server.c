#include "world/store_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "common/error.h"
#include "base/memory.h"
#include "world/peer.h"
#include "world/store.h"

/* Where ranks live beside each other, one may be about to answer: so long nothing was asked before waits are ended. Importing a part of
   PyTorch takes some seconds on a loaded machine. */
enum { BREATH_MS = 50, QUIET_MS = 10000, TOKEN = 16, READ = 64 << 10, BACKLOG = 128 };

struct connection {
    int fd;
    struct plm_store_client *client;
};

struct plm_store_server {
    struct plm_store_server_request request;
    struct plm_store *store;
    struct connection *connection;
    size_t connections, room;
    int listener, stop; /* an event: the thread is to end */
    pthread_t thread;
    bool running;
    bool full; /* no descriptor is left: who connects waits until one is */
};

/* ---- connections ---- */

static void connection_close(struct plm_store_server *s, size_t i)
{
    plm_store_drop(s->store, s->connection[i].client);
    close(s->connection[i].fd);
    s->full = false;
    s->connection[i] = s->connection[--s->connections];
}

static void connection_accept(struct plm_store_server *s)
{
    const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), yes = 1;
    int process;
    s->full = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd < 0)
        return;
    process = plm_peer_process(fd);
    if (!s->request.everyone && (!process || !plm_peer_has(process, PLM_JOB_TOKEN, plm_store_token()))) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    s->connection = plm_grow(s->connection, s->connections, &s->room, sizeof *s->connection);
    s->connection[s->connections++] = (struct connection){fd, plm_store_join(s->store, process)};
}

static bool is_for_later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* False: it is over. */
static bool connection_send(const struct connection *c)
{
    size_t size;
    const void *answer = plm_store_answer(c->client, &size);
    const ssize_t n = size ? send(c->fd, answer, size, MSG_NOSIGNAL) : 0;
    if (n > 0)
        plm_store_sent(c->client, (size_t)n);
    return n >= 0 || is_for_later(n);
}

static bool connection_read(struct plm_store_server *s, const struct connection *c)
{
    uint8_t bytes[READ];
    const ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n <= 0)
        return is_for_later(n);
    return plm_store_feed(s->store, c->client, bytes, (size_t)n) == 0;
}

static bool is_waited(const struct plm_store_server *s)
{
    for (size_t i = 0; i < s->connections; i++)
        if (plm_store_waits(s->connection[i].client))
            return true;
    return false;
}

/* ---- the thread ---- */

/* After so many ms without a request, waits are ended; -1: nobody waits. */
static int patience(const struct plm_store_server *s)
{
    if (!is_waited(s))
        return -1;
    if (s->request.live <= 1)
        return 0;
    return plm_store_stuck(s->store) ? BREATH_MS : QUIET_MS;
}

static struct pollfd *poll_list(const struct plm_store_server *s)
{
    struct pollfd *list = plm_calloc(2 + s->connections, sizeof *list);
    size_t size;
    list[0] = (struct pollfd){s->stop, POLLIN, 0};
    list[1] = (struct pollfd){s->full ? -1 : s->listener, POLLIN, 0};
    for (size_t i = 0; i < s->connections; i++) {
        plm_store_answer(s->connection[i].client, &size);
        list[2 + i] = (struct pollfd){s->connection[i].fd, (short)(POLLIN | (size ? POLLOUT : 0)), 0};
    }
    return list;
}

/* From the last on, since closing moves it. True: something came in. */
static bool connections_serve(struct plm_store_server *s, const struct pollfd *list, size_t count)
{
    bool heard = false;
    for (size_t i = count; i-- > 0;) {
        const short events = list[2 + i].revents;
        const bool in = events & (POLLIN | POLLHUP | POLLERR);
        heard |= in;
        if ((in && !connection_read(s, &s->connection[i])) || !connection_send(&s->connection[i]))
            connection_close(s, i);
    }
    return heard;
}

/* Also one that waits can be refused, while another is served. */
static void refused_close(struct plm_store_server *s)
{
    for (size_t i = s->connections; i-- > 0;)
        if (plm_store_refused(s->connection[i].client))
            connection_close(s, i);
}

static void *serve(void *context)
{
    struct plm_store_server *s = context;
    double last = plm_now();
    for (;;) {
        const int most = patience(s);
        const double left = last + most / 1e3 - plm_now();
        const size_t count = s->connections;
        struct pollfd *list = poll_list(s);
        const int ready = poll(list, (nfds_t)(2 + count), most < 0 ? -1 : left > 0 ? (int)(left * 1e3) + 1 : 0);
        const bool end = list[0].revents, joins = list[1].revents;
        bool heard = ready > 0 && !end && connections_serve(s, list, count);
        free(list);
        if (end)
            return NULL;
        if (joins)
            connection_accept(s);
        if (heard || joins)
            last = plm_now();
        else if (ready == 0 && most >= 0)
            plm_store_make_up(s->store);
        refused_close(s);
    }
}

/* ---- its life ---- */

static int listener_open(int port, struct plm_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) &&
        !bind(fd, (struct sockaddr *)&address, sizeof address) && !listen(fd, BACKLOG))
        return fd;
    plm_fail(error, PLM_EIO, "the job's store cannot use port %d of 127.0.0.1: %s", port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

const char *plm_store_token(void)
{
    static char text[2 * TOKEN + 1];
    uint8_t token[TOKEN] = {0};
    if (text[0])
        return text;
    if (getrandom(token, sizeof token, 0) != sizeof token)
        plm_out_of_memory(); /* never: so few bytes are there from the start of the system on */
    for (size_t i = 0; i < sizeof token; i++)
        snprintf(text + 2 * i, 3, "%02x", token[i]);
    setenv(PLM_JOB_TOKEN, text, 1);
    return text;
}

static int thread_start(struct plm_store_server *s)
{
    sigset_t all, before;
    int failure;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->running = !failure;
    return failure;
}

int plm_store_server_start(const struct plm_store_server_request *request, struct plm_store_server **out,
                           struct plm_error *error)
{
    struct plm_store_server *s = plm_calloc(1, sizeof *s);
    plm_store_token();
    *out = NULL;
    s->request = *request;
    s->stop = -1;
    s->listener = listener_open(request->port, error);
    if (s->listener < 0) {
        plm_store_server_free(s);
        return PLM_EIO;
    }
    s->stop = eventfd(0, EFD_CLOEXEC);
    s->store = plm_store_new(request->world, request->live);
    if (s->stop < 0 || thread_start(s)) {
        plm_store_server_free(s);
        return plm_fail(error, PLM_EIO, "the job's store could not be started: the system has no threads left");
    }
    *out = s;
    return 0;
}

int plm_store_server_port(const struct plm_store_server *s)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    getsockname(s->listener, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

void plm_store_server_stop(struct plm_store_server *s)
{
    const uint64_t one = 1;
    if (!s->running)
        return;
    if (write(s->stop, &one, sizeof one) == sizeof one)
        pthread_join(s->thread, NULL);
    s->running = false;
    while (s->connections)
        connection_close(s, s->connections - 1);
}

const struct plm_store *plm_store_server_store(const struct plm_store_server *s)
{
    return s->store;
}

void plm_store_server_free(struct plm_store_server *s)
{
    if (!s)
        return;
    plm_store_server_stop(s);
    plm_store_free(s->store);
    if (s->listener >= 0)
        close(s->listener);
    if (s->stop >= 0)
        close(s->stop);
    free(s->connection);
    free(s);
}
