#include "report/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fit/bounded.h"
#include "fit/ladder.h"
#include "common/error.h"
#include "base/json.h"
#include "base/units.h"
#include "common/printable.h"
#include "report/diff.h"

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

int plm_check_growth_parse(const char *text, struct plm_limit *limit)
{
    char *end;
    const double percent = strtod(text, &end);
    limit->growth_in_bytes = false;
    if (end > text && end == text + strspn(text, "0123456789.")) { /* no sign, no exponent, no "nan" */
        const char *unit = end + strspn(end, " ");
        limit->growth_percent = percent;
        if (!strcmp(unit, "%"))
            return 0;
    }
    limit->growth_in_bytes = true;
    return plm_size_lacks_unit(text) ? PLM_EINVAL : plm_size_parse(text, &limit->growth_bytes);
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

/* The device that needs most. */
static const struct plm_lane *lane_most(const struct plm_job *job, const struct plm_limit *limit, uint64_t *need)
{
    const struct plm_lane *most = &job->lane[0];
    *need = lane_need(job, most, limit);
    for (size_t i = 1; i < job->lanes; i++)
        if (lane_need(job, &job->lane[i], limit) > *need) {
            most = &job->lane[i];
            *need = lane_need(job, most, limit);
        }
    return most;
}

static bool grew_too_much(const struct plm_check *check)
{
    const struct plm_limit *limit = check->limit;
    if (!limit->base || check->bytes <= check->before)
        return false;
    if (limit->growth_in_bytes)
        return check->bytes - check->before > limit->growth_bytes;
    return 100 * (double)(check->bytes - check->before) > limit->growth_percent * (double)check->before;
}

static enum plm_check_outcome outcome_of(const struct plm_job *job, const struct plm_check *check,
                                         const struct plm_card *card)
{
    const struct plm_limit *limit = check->limit;
    if (grew_too_much(check))
        return PLM_CHECK_TOO_MUCH;
    if (!limit->max || check->bytes <= limit->max)
        return PLM_CHECK_OK;
    return !runs_within(job, limit, card) ? PLM_CHECK_TOO_MUCH : limit->allow_tight ? PLM_CHECK_OK : PLM_CHECK_TIGHT;
}

__attribute__((format(printf, 2, 3))) static void sentence_add(struct plm_check *check, const char *format, ...)
{
    const size_t used = strlen(check->sentence);
    va_list list;
    va_start(list, format);
    vsnprintf(check->sentence + used, sizeof check->sentence - used, format, list);
    va_end(list);
}

/* "3.8 GiB of 22.0 GiB device memory, 1.2 GiB over"; without a limit "3.8 GiB device memory". */
static void sentence_amount(struct plm_check *check, bool bytes)
{
    const struct plm_limit *limit = check->limit;
    const bool over = limit->max && check->bytes > limit->max;
    char value[32], max[32], by[32];
    sentence_add(check, "%s%s", limit->pessimistic ? "up to " : "", amount(value, sizeof value, check->bytes, bytes));
    if (limit->max)
        sentence_add(check, " of %s", amount(max, sizeof max, limit->max, bytes));
    sentence_add(check, " %s", whats[limit->what].words);
    if (over)
        sentence_add(check, ", %s over", amount(by, sizeof by, check->bytes - limit->max, bytes));
    if (check->outcome == PLM_CHECK_TIGHT)
        sentence_add(check, " without cache flushes (--allow-tight accepts that)");
    else if (over && check->outcome == PLM_CHECK_OK)
        sentence_add(check, " without cache flushes");
}

/* What grew, if it grew too much: where the memory of the device grew, that is the place to look at. */
static void sentence_cause(struct plm_check *check, const struct plm_job *job, bool bytes)
{
    struct plm_diff diff;
    struct plm_diff_growth growth;
    char cause[256], by[40];
    plm_diff_make(check->limit->base, job, PLM_BY_MODULE, &diff);
    growth = plm_diff_growth(&diff);
    if (*growth.cause && growth.used.after > growth.used.before)
        sentence_add(check, ": %s %s", plm_printable(cause, sizeof cause, growth.cause),
                     plm_change_amount(&growth.by, bytes, by, sizeof by));
    plm_diff_free(&diff);
}

/* "; +88 % (+8.9 GiB) from base.plm, limit +5 %: activations of blocks.* +8.1 GiB" */
static void sentence_growth(struct plm_check *check, const struct plm_job *job, bool bytes)
{
    const struct plm_limit *limit = check->limit;
    const struct plm_change change = {"", check->before, check->bytes};
    char path[256], percent[24], by[40], max[32];
    plm_printable(path, sizeof path, limit->against);
    if (check->before == check->bytes)
        sentence_add(check, "; same as %.200s", path);
    else
        sentence_add(check, "; %s (%s) from %.200s", plm_change_percent(&change, percent, sizeof percent),
                     plm_change_amount(&change, bytes, by, sizeof by), path);
    if (limit->growth_in_bytes)
        sentence_add(check, ", limit +%s", amount(max, sizeof max, limit->growth_bytes, bytes));
    else
        sentence_add(check, ", limit +%.4g %%", limit->growth_percent);
    if (grew_too_much(check))
        sentence_cause(check, job, bytes);
}

struct plm_check plm_check_job(const struct plm_job *job, const struct plm_limit *limit, const struct plm_card *card,
                               bool bytes)
{
    static const char *const words[] = {
        [PLM_CHECK_OK] = "ok", [PLM_CHECK_TIGHT] = "tight", [PLM_CHECK_TOO_MUCH] = "too much"};
    struct plm_check check = {.limit = limit};
    const struct plm_lane *most = lane_most(job, limit, &check.bytes);
    command_describe(job, &check);
    if (limit->base)
        lane_most(limit->base, limit, &check.before);
    check.outcome = outcome_of(job, &check, card);
    sentence_add(&check, "%s: ", words[check.outcome]);
    sentence_amount(&check, bytes);
    if (job->lanes > 1)
        sentence_add(&check, " (rank %d, device %d)", most->summary->rank, most->summary->device);
    if (limit->base)
        sentence_growth(&check, job, bytes);
    return check;
}

struct plm_check plm_check_error(const struct plm_job *job, const struct plm_limit *limit, const char *sentence)
{
    struct plm_check check = {.outcome = PLM_CHECK_ERROR, .limit = limit};
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

static void growth_json(struct plm_json *j, const struct plm_check *c)
{
    plm_json_object(j, "growth");
    plm_json_string(j, "against", c->limit->against);
    if (c->limit->growth_in_bytes)
        plm_json_integer(j, "max_bytes", c->limit->growth_bytes);
    else
        plm_json_real(j, "max_percent", c->limit->growth_percent);
    if (c->outcome != PLM_CHECK_ERROR) {
        plm_json_integer(j, "before", c->before);
        plm_json_signed(j, "change", (int64_t)(c->bytes - c->before));
        plm_json_bool(j, "within", !grew_too_much(c));
    }
    plm_json_end_object(j);
}

void plm_check_json(struct plm_json *j, const struct plm_check *c)
{
    static const char *const verdicts[] = {[PLM_CHECK_OK] = "ok",
                                           [PLM_CHECK_TIGHT] = "tight",
                                           [PLM_CHECK_TOO_MUCH] = "too-much",
                                           [PLM_CHECK_ERROR] = "unknown"};
    plm_json_object(j, "check");
    plm_json_string(j, "verdict", verdicts[c->outcome]);
    plm_json_integer(j, "status", (uint64_t)c->status);
    plm_json_string(j, "sentence", c->sentence);
    plm_json_string(j, "figure", whats[c->limit->what].name);
    plm_json_bool(j, "pessimistic", c->limit->pessimistic);
    if (c->outcome != PLM_CHECK_ERROR)
        plm_json_integer(j, "bytes", c->bytes);
    if (c->limit->max)
        plm_json_integer(j, "max", c->limit->max);
    if (c->limit->base)
        growth_json(j, c);
    plm_json_end_object(j);
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
