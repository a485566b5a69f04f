/* plimsoll.ini: settings of every type. */
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/options.h"
#include "fuzz.h"

static char folder[] = "/tmp/plimsoll-fuzz-XXXXXX";

static void leave_folder(void)
{
    unlink("plimsoll.ini");
    rmdir(folder);
}

/* ./plimsoll.ini is the file in memory; no other configuration is there. */
static void enter_folder(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_fd());
    if (!mkdtemp(folder) || chdir(folder) || symlink(path, "plimsoll.ini"))
        abort();
    atexit(leave_folder);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    __lsan_disable(); /* settings live as long as the program */
}

struct values {
    bool flag;
    const char *text;
    int number;
    uint64_t bytes;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool entered;
    static struct values v;
    static const struct plm_option options[] = {
        {"bounded", 0, PLM_OPTION_FLAG, offsetof(struct values, flag), .configurable = true},
        {"gpu", 'g', PLM_OPTION_TEXT, offsetof(struct values, text), .configurable = true},
        {"steps", 's', PLM_OPTION_NUMBER, offsetof(struct values, number), .configurable = true},
        {"limit", 0, PLM_OPTION_SIZE, offsetof(struct values, bytes), .configurable = true},
        {0},
    };
    struct plm_error error = {0};
    int rest;
    if (!entered)
        enter_folder();
    entered = true;
    fuzz_file(data, size);
    if (plm_options_parse(options, &v, "run", 0, NULL, &rest, &error) && (!error.text[0] || v.number < 0))
        abort();
    return 0;
}
