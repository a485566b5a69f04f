#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"

int plm_scratch_make(const char *purpose, char folder[PLM_SCRATCH], struct plm_error *error)
{
    const char *given = getenv("TMPDIR"), *place = given && *given ? given : "/tmp";
    int n = snprintf(folder, PLM_SCRATCH, "%s/plimsoll-%s-XXXXXX", place, purpose);
    const bool fits = n > 0 && n < PLM_SCRATCH;
    if (fits && mkdtemp(folder))
        return 0;
    folder[0] = '\0';
    return plm_fail(error, PLM_EIO, "cannot make a folder in %.200s: %s", place,
                    fits ? strerror(errno) : "the path is too long");
}

void plm_scratch_remove(char folder[PLM_SCRATCH])
{
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *open = folder[0] ? opendir(folder) : NULL;
    if (!open)
        return;
    while ((entry = readdir(open)))
        if (entry->d_name[0] != '.') {
            int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (n > 0 && (size_t)n < sizeof path)
                unlink(path);
        }
    closedir(open);
    rmdir(folder);
    folder[0] = '\0';
}
