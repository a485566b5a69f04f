/* In a child of the bench: one capture of a run on the CPU, and what the methods say about it. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "common/error.h"
#include "base/temporary.h"
#include "base/status.h"
#include "study/estimate/capture.h"
#include "study/evaluate/bench.h"

static int run_capture(const struct plm_bench *bench, size_t run, const char *path, const char *log, double *seconds)
{
    const char *const words[] = {"plimsoll", "trace", "--no-compute", "-f", "-o", path, NULL};
    const double start = plm_now();
    int status, failure;
    pid_t pid = plm_bench_start(bench, run, words, log, &failure);
    if (pid < 0)
        return PLM_EIO;
    status = plm_child_wait(pid, NULL, NULL);
    *seconds = plm_now() - start;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : PLM_EIO;
}

static void log_complain(const char *log, const char *text)
{
    FILE *out = fopen(log, "ae");
    if (!out)
        return;
    fprintf(out, "plimsoll: %s\n", text);
    fclose(out);
}

/* Only those that were not asked before: their answers are there. */
static void methods_ask(const struct plm_bench *bench, size_t index, const struct plm_evidence *captured,
                        double seconds, uint64_t *asked)
{
    const struct plm_bench_run *run = &bench->run[index];
    const struct plm_question question = {.card = &run->device, .usable = run->usable, .context = run->outcome.context};
    for (size_t i = 0; i < bench->settings->methods; i++) {
        struct plm_reply *reply = &run->reply[i];
        struct plm_inquiry inquiry;
        if (reply->known && !reply->failed)
            continue;
        *reply = (struct plm_reply){.known = true, .capture_seconds = seconds};
        inquiry = plm_inquiry_open(bench->settings->method[i], captured);
        reply->answer = plm_inquiry_ask(&inquiry, &question);
        plm_inquiry_close(&inquiry);
        *asked |= 1ull << i;
    }
}

int plm_bench_ask(const struct plm_bench *bench, size_t run)
{
    char trace[4096], log[4096], answers[4096];
    const char *const paths[] = {trace};
    struct plm_captured captured = {0};
    struct plm_error error = {0};
    uint64_t asked = 0;
    double seconds = 0;
    int status;
    plm_bench_path(bench, run, "trace.json.gz", trace, sizeof trace);
    if (bench->settings->keep)
        snprintf(trace, sizeof trace, "%.3900s/%s.trace.json.gz", bench->settings->common.folder, bench->run[run].key);
    plm_bench_path(bench, run, "trace.log", log, sizeof log);
    plm_bench_path(bench, run, "answers", answers, sizeof answers);
    status = PLM_ENOTFOUND;
    if (bench->settings->keep) /* from before; its name says that it is of this very run */
        status = plm_captured_read(paths, 1, &captured, &error);
    if (status) {
        plm_captured_free(&captured);
        error.text[0] = '\0';
        status = run_capture(bench, run, trace, log, &seconds);
        if (status == 0)
            status = plm_captured_read(paths, 1, &captured, &error);
        captured.evidence.trace_seconds = seconds;
    }
    if (status == 0) {
        captured.evidence.model = bench->settings->model;
        methods_ask(bench, run, &captured.evidence, captured.evidence.trace_seconds, &asked);
        status = plm_answers_add(bench, run, asked, answers, &error);
    }
    if (status && error.text[0]) /* else the capture has said it */
        log_complain(log, error.text);
    plm_captured_free(&captured);
    plm_temporary_remove(trace); /* which leaves one that is kept */
    return status ? PLM_EXIT_CANNOT : 0;
}
