#include "report/code.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/job.h"

static bool is_unchanged(const struct plm_job_line *line, int file)
{
    struct stat now;
    return !fstat(file, &now) && S_ISREG(now.st_mode) && (uint64_t)now.st_size == line->bytes &&
           (uint64_t)now.st_mtim.tv_sec * 1000000000u + (uint64_t)now.st_mtim.tv_nsec == line->modified;
}

static FILE *code_open(const struct plm_job_line *line)
{
    const int file = line->bytes ? open(line->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    FILE *in = file >= 0 && is_unchanged(line, file) ? fdopen(file, "r") : NULL;
    if (!in && file >= 0)
        close(file);
    return in;
}

bool plm_report_code(const struct plm_job_line *line, char *out, size_t size)
{
    FILE *in = code_open(line);
    char *text = NULL, *from;
    size_t room = 0, length;
    uint32_t at = 0;
    out[0] = '\0';
    if (!in)
        return false;
    while (at < line->line && getline(&text, &room, in) >= 0)
        at++;
    if (at && at == line->line) {
        from = text + strspn(text, " \t");
        length = strcspn(from, "\r\n");
        while (length && (from[length - 1] == ' ' || from[length - 1] == '\t'))
            length--;
        snprintf(out, size, "%.*s", (int)(length < INT_MAX ? length : INT_MAX), from);
    }
    free(text);
    fclose(in);
    return out[0] != '\0';
}

const char *plm_report_line_name(const struct plm_job_line *line, char *out, size_t size)
{
    char here[PATH_MAX];
    const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    const bool inside = length > 1 && !strncmp(line->file, here, length) && line->file[length] == '/';
    snprintf(out, size, "%s:%u", line->file + (inside ? length + 1 : 0), line->line);
    return out;
}
