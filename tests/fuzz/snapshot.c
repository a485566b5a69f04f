/* Memory snapshots: a pickle, and a history that need not make sense. What is imported must be a record that can be
   read; replaying it ends with a verdict, and one that is not "same" with a sentence. */
#include "common/error.h"
#include "fuzz.h"
#include "import/import.h"
#include "record/reader.h"

static int event_visit(const struct plm_record_event *event, void *context)
{
    uint64_t *last = context;
    MUST(event->time_ns >= *last);
    *last = event->time_ns;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_import_info info = {0};
    struct plm_error error = {0};
    struct plm_record *record;
    uint64_t last = 0;
    const struct plm_import_options options = {.name = "fuzz", .path = "it.plm", .replace = true, .verify = true};
    int status = plm_import_snapshot(data, size, &options, &info, &error);
    if (status < 0) {
        fuzz_sentence(&error);
        return 0;
    }
    MUST((info.verify.verdict == PLM_VERDICT_SAME) == !info.verify.sentence[0]);
    MUST(plm_record_open(fuzz_written(), &record, &error) == 0);
    MUST(plm_record_each(record, event_visit, &last, &error) == 0);
    plm_record_free(record);
    return 0;
}
