#include "world/peer.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the socket at the other end ---- */

struct ports {
    unsigned theirs, ours;
};

static bool ports_of(int connection, struct ports *out)
{
    struct sockaddr_in theirs = {0}, ours = {0};
    socklen_t size = sizeof theirs;
    if (getpeername(connection, (struct sockaddr *)&theirs, &size) || theirs.sin_family != AF_INET)
        return false;
    size = sizeof ours;
    if (getsockname(connection, (struct sockaddr *)&ours, &size))
        return false;
    *out = (struct ports){ntohs(theirs.sin_port), ntohs(ours.sin_port)};
    return true;
}

/* A row: number, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode. */
static unsigned long inode_in(const char *path, const struct ports *ports)
{
    FILE *file = fopen(path, "re");
    unsigned long inode = 0;
    char row[512];
    while (file && !inode && fgets(row, sizeof row, file)) {
        unsigned from, to;
        unsigned long found;
        if (sscanf(row, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %*s %lu", &from, &to, &found) ==
                3 &&
            from == ports->theirs && to == ports->ours)
            inode = found;
    }
    if (file)
        fclose(file);
    return inode;
}

/* ---- the process that holds it ---- */

static bool process_holds(int process, const char *socket)
{
    char folder[64], path[352], link[64];
    struct dirent *item;
    bool found = false;
    DIR *dir;
    snprintf(folder, sizeof folder, "/proc/%d/fd", process);
    dir = opendir(folder);
    while (dir && !found && (item = readdir(dir))) {
        ssize_t size;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        size = readlink(path, link, sizeof link - 1);
        link[size > 0 ? size : 0] = '\0';
        found = !strcmp(link, socket);
    }
    if (dir)
        closedir(dir);
    return found;
}

int plm_peer_process(int connection)
{
    struct ports ports;
    unsigned long inode;
    char socket[64];
    struct dirent *item;
    int process = 0;
    DIR *dir;
    if (!ports_of(connection, &ports))
        return 0;
    inode = inode_in("/proc/net/tcp", &ports);
    if (!inode)
        inode = inode_in("/proc/net/tcp6", &ports);
    if (!inode)
        return 0;
    snprintf(socket, sizeof socket, "socket:[%lu]", inode);
    dir = opendir("/proc");
    while (dir && !process && (item = readdir(dir)))
        if (isdigit((unsigned char)item->d_name[0]) && process_holds(atoi(item->d_name), socket))
            process = atoi(item->d_name);
    if (dir)
        closedir(dir);
    return process;
}

bool plm_peer_has(int process, const char *name, const char *value)
{
    char path[64], *text = NULL;
    size_t room = 0;
    const size_t length = strlen(name);
    bool found = false;
    FILE *file;
    snprintf(path, sizeof path, "/proc/%d/environ", process);
    file = fopen(path, "re");
    while (file && !found && getdelim(&text, &room, '\0', file) > 0)
        found = !strncmp(text, name, length) && text[length] == '=' && !strcmp(text + length + 1, value);
    if (file)
        fclose(file);
    free(text);
    return found;
}
