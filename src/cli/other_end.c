#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/summary.h"
#include "base/error.h"
#include "cli/cli.h"
#include "record/create.h"
#include "record/pen.h"
#include "report/report.h"

/*
 * Some results decide how large the next tensors are, and no kernel computed them. The first run read them
 * as empty; a second one assumes the other extreme. What it needed goes into the first run's record, as a setting "other-end"
 * and an event OTHER_END of each device.
 */

static void write_figures(struct plm_pen *pen, const struct plm_summary *s)
{
    plm_pen_setting(pen, "other-end", "all=true,keep=1");
    for (int i = 0; i < s->devices; i++) {
        const struct plm_device_summary *d = &s->device[i];
        plm_pen_other_end(pen, d->device,
                          &(struct plm_ev_other_end){
                              .rank = (uint32_t)d->rank, .allocated = d->allocated_peak, .reserved = d->reserved_peak});
    }
}

bool plm_other_end(struct plm_pen *pen, const struct plm_launch *first, int command_status)
{
    struct plm_launch launch = *first;
    char path[PATH_MAX];
    struct plm_record_file file;
    struct plm_summary s;
    int status = -1, failure;
    pid_t child;
    bool done;

    if (snprintf(path, sizeof path, "%s.other-end", first->record) >= (int)sizeof path)
        return false;
    if (plm_record_create(path, true, &file, NULL) < 0)
        return false;
    launch.record = path;
    launch.silent = true; /* its output was seen once already, and its input is used up */
    launch.assume = (struct plm_assume){true, 1};
    child = plm_launch_start(&launch, &failure);
    if (child > 0)
        status = plm_await(child, plm_progress_of_record, file.header);
    plm_record_close(&file);
    done = child > 0 && WIFEXITED(status) == WIFEXITED(command_status) &&
           WEXITSTATUS(status) == WEXITSTATUS(command_status) && plm_summary_read(path, &s, NULL) == 0;
    if (done) {
        write_figures(pen, &s);
        plm_summary_free(&s);
    } else
        plm_pen_setting(pen, "other-end", "failed");
    unlink(path);
    return done;
}
