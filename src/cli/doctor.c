#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/catalogue.h"
#include "base/child.h"
#include "common/error.h"
#include "common/printable.h"
#include "base/install.h"
#include "cli/cli.h"
#include "cli/commands.h"

/* Each line of the answer is a finding: good, a problem, and what to do about it. */
static int problems;

/* Seconds that an interpreter gets to answer. */
enum { PATIENCE = 300 };

static void doctor_say(bool good, const char *what, const char *detail, const char *advice)
{
    printf("  %-8s %-14s ", good ? "ok" : "PROBLEM", what);
    plm_printable_put(stdout, detail);
    if (!good)
        printf("\n           %-14s %s", "", advice);
    putchar('\n');
    problems += !good;
}

static void check_machine(void)
{
    struct utsname u;
    char text[128];
    int major = 0, minor = 0;
    uname(&u);
    snprintf(text, sizeof text, "%.40s %.40s", u.sysname, u.machine);
    doctor_say(!strcmp(u.sysname, "Linux") && !strcmp(u.machine, "x86_64"), "machine", text,
               "plimsoll runs on Linux on x86_64");
    sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
    snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
    doctor_say(major != 2 || minor >= 28, "C library", text, "glibc 2.28 or newer is needed");
}

/* A folder may come from somebody else: its torch.py is not what was asked about, and is not to be run. */
#define OWN_MODULES "import sys; sys.path[:] = [p for p in sys.path if p]\n"

/* Runs PYTHON with a short program and gives its first line of output. */
static void doctor_ask(const char *python, const char *program, char *answer, size_t size, int *failure)
{
    const char *const words[] = {python, "-c", program, NULL};
    plm_child_ask(&(struct plm_child){.words = words}, PATIENCE, answer, size, failure);
    answer[strcspn(answer, "\n")] = '\0';
}

/* Looks at the files only: importing a CUDA build fails where its libraries are missing. */
static const char find_torch[] =
    OWN_MODULES "import importlib.util as u,re,os\n"
                "s=u.find_spec('torch')\n"
                "if s is None or not s.submodule_search_locations: print('none'); sys.exit()\n"
                "d=list(s.submodule_search_locations)[0]\n"
                "t=open(os.path.join(d,'version.py')).read()\n"
                "v=re.search(r\"__version__ = '([^']*)'\",t); c=re.search(r\"^cuda[^=]*= '([^']*)'\",t,re.M)\n"
                "h=os.path.exists(os.path.join(d,'lib','libtorch_cuda.so'))\n"
                "print(v.group(1) if v else '?', c.group(1) if c else '-', 'cuda' if h else 'cpu')\n";

const char *plm_doctor_advice(char **command)
{
    static char advice[512];
    const char *slash = strrchr(command[0], '/'), *name = slash ? slash + 1 : command[0];
    char answer[512] = "";
    int failure = 0;
    if (strncmp(name, "python", 6) != 0)
        return "";
    doctor_ask(command[0], find_torch, answer, sizeof answer, &failure);
    if (failure || (strcmp(answer, "none") != 0 && !strstr(answer, " cpu")))
        return "";
    snprintf(advice, sizeof advice, "; `plimsoll doctor %.400s` checks its PyTorch", command[0]);
    return advice;
}

static void try_import(const char *python, const struct plm_install *install)
{
    static char code[] = OWN_MODULES "import torch; assert torch.cuda.is_available(); torch.zeros(4, device='cuda'); "
                                     "print(torch.cuda.get_device_name())";
    char *command[] = {(char *)python, "-c", code, NULL}, answer[8192], last[PLM_LAST_LINE];
    const struct plm_catalogue_entry *gpu;
    struct plm_catalogue catalogue;
    struct plm_error error;

    if (plm_catalogue_load(&catalogue, install, &error) < 0 ||
        plm_catalogue_find(&catalogue, "a100-80gb", &gpu, &error) < 0) {
        doctor_say(false, "GPU files", error.text, "fix or remove that file");
        return;
    }
    if (plm_cli_launch_ask(&(struct plm_cli_launch){.install = install,
                                                    .gpu = gpu,
                                                    .gpus = 1,
                                                    .detail = "off",
                                                    .assume = PLM_ASSUME_NOTHING,
                                                    .command = command},
                           PATIENCE, answer, sizeof answer) == 0)
        doctor_say(true, "virtual GPU", "PyTorch sees it and allocates on it", NULL);
    else {
        plm_child_last_line(fmemopen(answer, strlen(answer), "r"), false, last);
        doctor_say(false, "virtual GPU", last, "please report this with the versions above");
    }
    plm_catalogue_free(&catalogue);
}

static void check_python(const char *python, const struct plm_install *install)
{
    char answer[512], text[256], version[64] = "", cuda[32] = "", kind[16] = "";
    int failure = 0;

    doctor_ask(python, "import sys; print(sys.version.split()[0], sys.executable)", answer, sizeof answer, &failure);
    if (failure || !answer[0]) {
        doctor_say(false, "Python",
                   failure && failure != ETIMEDOUT ? "cannot be started" : "is not a Python interpreter",
                   "name the interpreter of your job: plimsoll doctor /path/to/python");
        return;
    }
    doctor_say(true, "Python", answer, NULL);
    doctor_ask(python, find_torch, answer, sizeof answer, &failure);
    if (!strcmp(answer, "none") || sscanf(answer, "%63s %31s %15s", version, cuda, kind) != 3) {
        doctor_say(false, "PyTorch", "not installed for this interpreter",
                   "pip install torch; or name the interpreter of your job: plimsoll doctor PYTHON");
        return;
    }
    snprintf(text, sizeof text, "%s, CUDA %s", version, cuda);
    if (strcmp(kind, "cuda")) {
        snprintf(text, sizeof text, "%s is a CPU-only build", version);
        doctor_say(false, "PyTorch", text,
                   "install a CUDA build: pip install --no-deps torch (the NVIDIA packages are not needed)");
        return;
    }
    doctor_say(atoi(cuda) == 12 || atoi(cuda) == 13, "PyTorch", text, "builds for CUDA 12 and 13 are supported");
    try_import(python, install);
}

static int doctor_run(int argc, char **argv)
{
    struct plm_install install;
    struct plm_error error;
    if (argc > 1 || (argc == 1 && argv[0][0] == '-'))
        return plm_complain(PLM_EXIT_USAGE, "doctor takes one interpreter: `plimsoll doctor [PYTHON]`");
    puts("plimsoll " PLM_VERSION);
    check_machine();
    if (plm_install_find(&install, &error) < 0)
        doctor_say(false, "installation", error.text, "");
    else {
        doctor_say(true, "installation", install.shims, NULL);
        check_python(argc ? argv[0] : "python3", &install);
    }
    if (problems)
        printf("%d problem%s.\n", problems, problems == 1 ? "" : "s");
    else
        puts("Everything is in place.");
    return problems ? PLM_EXIT_NO_FIT : PLM_EXIT_OK;
}

const struct plm_command plm_command_doctor = {
    .name = "doctor",
    .line = "check this machine and its PyTorch",
    .words = "[PYTHON]",
    .complete = PLM_COMPLETE_PROGRAM,
    .example = {"plimsoll doctor", "plimsoll doctor ~/venv/bin/python"},
    .exit = {{PLM_EXIT_OK, "everything is in place"}, {PLM_EXIT_NO_FIT, "problems were found"}},
    .run = doctor_run,
};
