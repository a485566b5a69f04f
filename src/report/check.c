#include "report/check.h"

#include <stdlib.h>
#include <string.h>

#include "fit/bounded.h"
#include "fit/ladder.h"
#include "common/error.h"
#include "base/units.h"
#include "common/printable.h"

static const struct {
    const char *name, *words;
} whats[] = {
    [PLM_CHECK_USED] = {"device_used", "device memory"},
    [PLM_CHECK_RESERVED] = {"reserved", "reserved by PyTorch"},
    [PLM_CHECK_ALLOCATED] = {"allocated", "allocated"},
};

int plm_check_what_parse(const char *text, enum plm_check_what *what)
{
    for (size_t i = 0; i < sizeof whats / sizeof whats[0]; i++)
        if (!strcmp(text, whats[i].name)) {
            *what = (enum plm_check_what)i;
            return 0;
        }
    return PLM_EINVAL;
}

/* ---- the verdict ---- */

static uint64_t lane_need(const struct plm_job *job, const struct plm_lane *lane, const struct plm_limit *limit)
{
    struct plm_ladder l = plm_ladder(job, lane);
    if (limit->what == PLM_CHECK_USED)
        return limit->pessimistic ? l.high : l.device_used;
    return limit->what == PLM_CHECK_RESERVED ? l.reserved : l.allocated;
}

/* The words of the command with blanks between them. */
static void command_describe(const struct plm_job *job, struct plm_check *check)
{
    const char *word;
    size_t used = 0;
    for (int i = 0; used < sizeof check->subject && (word = plm_summary_word(&job->summary, i)); i++)
        used += (size_t)snprintf(check->subject + used, sizeof check->subject - used, "%s%s", i ? " " : "", word);
    if (!used)
        snprintf(check->subject, sizeof check->subject, "the job");
    check->seconds = plm_summary_seconds(&job->summary);
    if (!(check->seconds >= 0 && check->seconds < 1e9)) /* the text of a damaged record may be "nan" */
        check->seconds = 0;
}

static const char *amount(char *buffer, size_t size, uint64_t value, bool bytes)
{
    if (!bytes)
        return plm_size_text(buffer, size, value);
    snprintf(buffer, size, "%llu", (unsigned long long)value);
    return buffer;
}

/* Whether the job runs with as much as the limit says. */
static bool runs_within(const struct plm_job *job, const struct plm_limit *limit, const struct plm_card *card)
{
    struct plm_bounded bounded;
    return card && limit->what == PLM_CHECK_USED && !limit->pessimistic &&
           plm_bounded(job, card, limit->max, &bounded) == 0 && bounded.completes;
}

struct plm_check plm_check_job(const struct plm_job *job, const struct plm_limit *limit, const struct plm_card *card,
                               bool bytes)
{
    static const char *const words[] = {
        [PLM_CHECK_OK] = "ok", [PLM_CHECK_TIGHT] = "tight", [PLM_CHECK_TOO_MUCH] = "too much"};
    const struct plm_lane *most = &job->lane[0];
    struct plm_check check = {.bytes = lane_need(job, most, limit)};
    char value[32], max[32], over[32], device[64] = "";
    command_describe(job, &check);
    for (size_t i = 1; i < job->lanes; i++)
        if (lane_need(job, &job->lane[i], limit) > check.bytes) {
            most = &job->lane[i];
            check.bytes = lane_need(job, most, limit);
        }
    if (job->lanes > 1)
        snprintf(device, sizeof device, " (rank %d, device %d)", most->summary->rank, most->summary->device);
    if (check.bytes > limit->max)
        check.outcome = !runs_within(job, limit, card) ? PLM_CHECK_TOO_MUCH
                        : limit->allow_tight           ? PLM_CHECK_OK
                                                       : PLM_CHECK_TIGHT;
    snprintf(check.sentence, sizeof check.sentence, "%s: %s%s of %s %s%s%s%s%s", words[check.outcome],
             limit->pessimistic ? "up to " : "", amount(value, sizeof value, check.bytes, bytes),
             amount(max, sizeof max, limit->max, bytes), whats[limit->what].words, check.bytes > limit->max ? ", " : "",
             check.bytes > limit->max ? amount(over, sizeof over, check.bytes - limit->max, bytes) : "",
             check.bytes > limit->max ? " over" : "",
             check.outcome == PLM_CHECK_TIGHT ? " without cache flushes (--allow-tight accepts that)"
             : check.outcome == PLM_CHECK_OK && check.bytes > limit->max ? " without cache flushes"
                                                                         : "");
    strncat(check.sentence, device, sizeof check.sentence - strlen(check.sentence) - 1);
    return check;
}

struct plm_check plm_check_error(const struct plm_job *job, const char *sentence)
{
    struct plm_check check = {.outcome = PLM_CHECK_ERROR};
    command_describe(job, &check);
    snprintf(check.sentence, sizeof check.sentence, "%s", sentence);
    return check;
}

/* ---- formats ---- */

struct escape {
    char character;
    const char *instead;
};

/* Writes text of unknown origin, with what the format wants to be written otherwise. */
static void escaped(FILE *out, const char *text, const struct escape *table, size_t count)
{
    char shown[PLM_PRINTABLE_MOST];
    for (unsigned n; (n = plm_printable_next(text, shown)); text += n) {
        const char *instead = shown;
        for (size_t i = 0; i < count; i++)
            if (*text == table[i].character)
                instead = table[i].instead;
        fputs(instead, out);
    }
}

static void xml(FILE *out, const char *text)
{
    static const struct escape table[] = {{'&', "&amp;"},   {'<', "&lt;"},   {'>', "&gt;"},   {'"', "&quot;"},
                                          {'\'', "&apos;"}, {'\n', "&#10;"}, {'\r', "&#13;"}, {'\t', "&#9;"}};
    escaped(out, text, table, sizeof table / sizeof table[0]);
}

void plm_check_junit(FILE *out, const struct plm_check *c)
{
    static const char *const elements[] = {
        [PLM_CHECK_TIGHT] = "failure", [PLM_CHECK_TOO_MUCH] = "failure", [PLM_CHECK_ERROR] = "error"};
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n"
            "  <testsuite name=\"plimsoll\" tests=\"1\" failures=\"%d\" errors=\"%d\" skipped=\"0\" time=\"%.3f\">\n"
            "    <testcase classname=\"plimsoll.check\" name=\"",
            c->outcome == PLM_CHECK_TIGHT || c->outcome == PLM_CHECK_TOO_MUCH, c->outcome == PLM_CHECK_ERROR,
            c->seconds);
    xml(out, c->subject);
    fprintf(out, "\" time=\"%.3f\">\n", c->seconds);
    if (c->outcome == PLM_CHECK_OK) {
        fputs("      <system-out>", out);
        xml(out, c->sentence);
        fputs("</system-out>\n", out);
    } else {
        fprintf(out, "      <%s type=\"%s\" message=\"", elements[c->outcome],
                c->outcome == PLM_CHECK_ERROR ? "error" : "limit");
        xml(out, c->sentence);
        fputs("\"/>\n", out);
    }
    fputs("    </testcase>\n  </testsuite>\n</testsuites>\n", out);
}

void plm_check_github(FILE *out, const struct plm_check *c)
{
    static const struct escape data[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}};
    static const struct escape property[] = {{'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}};
    fprintf(out, "::%s title=GPU memory of ", c->outcome == PLM_CHECK_OK ? "notice" : "error");
    escaped(out, c->subject, property, sizeof property / sizeof property[0]);
    fputs("::", out);
    escaped(out, c->sentence, data, sizeof data / sizeof data[0]);
    fputc('\n', out);
}
