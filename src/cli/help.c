/* `plimsoll COMMAND --help`. A test holds every text against the synopsis of the command's manual page. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct help {
    const char *command, *usage, *options;
};

static const struct help helps[] = {
    {"calibrate", "plimsoll calibrate [options]            on a machine with a GPU",
     "  --record F       measure the convolutions, recurrent networks and transforms of this job\n"
     "  --list           print what would be measured, and measure nothing\n"
     "  -o, --output F   the stack file; -f, --force replaces one\n"
     "  --python P       the interpreter that has PyTorch (default python3)\n"
     "  --rows-only      not the memory of the card and of the libraries\n"},
    {"check", "plimsoll check --max SIZE [options] RECORD | -- COMMAND...",
     "  --max SIZE       the limit: 22GiB, 24GB, 512m or bytes\n"
     "  --what FIGURE    device_used (default), reserved or allocated\n"
     "  --pessimistic    compare the high end of the range\n"
     "  --junit F        also write the verdict as JUnit XML\n"
     "  --github         also print it as an annotation of GitHub's workflows\n"
     "  --strict         exit 4 unless the confidence is high\n"
     "  --bytes          bytes instead of GiB\n"
     "With a command: the options of run as well.\n"},
    {"describe", "plimsoll describe [options] -- COMMAND...",
     "  -o, --output F   the file (default plimsoll-<script>.<pid>.description.json); -f, --force replaces one\n"
     "  --compute        let operators compute; without it only their results' memory is made\n"},
    {"diff", "plimsoll diff [options] BEFORE AFTER",
     "  --json           one JSON document\n"
     "  --bytes          bytes instead of GiB\n"
     "  --color WHEN     auto, always or never\n"},
    {"doctor", "plimsoll doctor [PYTHON]", "Checks this machine, and the PyTorch of an interpreter.\n"},
    {"estimate", "plimsoll estimate [options] FILE... | -- COMMAND...",
     "FILE: a record, a trace, a description of one job, in any order.\n"
     "  --method NAME,...    only these methods (default: all)\n"
     "  --gpu NAME,...       the cards to judge (default: some common ones)\n"
     "  --gpus N             on so many GPUs together; --nodes N machines; --tensor-parallel N\n"
     "  --forest F           what `plimsoll train` made, for schedtune\n"
     "  --context SIZE       what the process takes beside its allocations\n"
     "  --json               one JSON document\n"
     "  --bytes              bytes instead of GiB; --color auto|always|never\n"},
    {"evaluate", "plimsoll evaluate [options] TRUTH.csv",
     "  --method NAME,... methods to ask beside plimsoll, or all; --forest F: what `plimsoll train` made\n"
     "  --workloads DIR  scripts of the families, with a workloads.ini\n"
     "  --python P       the interpreter that has PyTorch (default python3)\n"
     "  -j, --jobs N     processes at the same time (default: the processors)\n"
     "  --gpu NAME       the card to play instead of each row's own; --stack NAME as in run\n"
     "  --truth KIND     what was measured: allocated, reserved, device or device-less-first (default)\n"
     "  --late-sample    give back to the truth what a first sample that came late took off\n"
     "  --design D       rows (default), grid or montecarlo; --draws N, --seed N\n"
     "  --levels L       what a design takes its levels from: file (default), workloads or an .ini\n"
     "  --reference virtual  hold runs without truth against the virtual GPU\n"
     "  --plan F         write the runs down to be measured, and run nothing\n"
     "  --disturbed      use rows that say that something else moved the card's memory\n"
     "  --anova WHAT     what errors depend on: absolute (default), signed or none\n"
     "  -k, --match T    only rows whose run, family, model or optimizer contains T\n"
     "  -o, --output DIR keep the results there; --resume goes on with them, -f, --force replaces them\n"
     "  --keep           leave the captures there as well\n"
     "  --json F, --html F   also write all figures, a page with plots\n"
     "  --csv F, --figures F   also write a line for each run, a line for each estimator\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
    {"export", "plimsoll export FORMAT [options] RECORD",
     "  --csv, --jsonl   all events, as a table or as JSON lines\n"
     "  --snapshot       a memory snapshot for PyTorch's memory_viz; --at MOMENT: not of the peak\n"
     "  --perfetto       a trace for ui.perfetto.dev\n"
     "  --speedscope, --folded   what lives at the peak, as a flame graph\n"
     "  -o, --output F   write to a file; -f, --force replaces one\n"
     "  --fields         list the types of events and their fields; --formats: the formats\n"},
    {"fit", "plimsoll fit [options] RECORD",
     "  --gpu NAME,...   only these cards\n"
     "  --margin SIZE    leave so much free: 1GiB, 512m or 5%\n"
     "  --pessimistic    count tight as no\n"
     "  --strict         exit 4 unless the confidence is high and the replay exact\n"
     "  --all            every card, also those far from deciding anything\n"
     "  --json           one JSON document\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
    {"gpus", "plimsoll gpus [--json] | plimsoll gpus NAME...", "Lists the cards that are known, or all about some.\n"},
    {"import", "plimsoll import [options] SNAPSHOT",
     "  -o, --output F   the record (default: the snapshot's name with .plm); -f, --force replaces one\n"
     "  --verify         replay the history and say whether the simulator reproduces it\n"
     "  --torch V        verify by the rules of this version\n"
     "  --json           with --verify: one JSON document\n"},
    {"measure", "plimsoll measure [options] -- COMMAND...    on a machine with a GPU",
     "  -o, --output F   the truth file that gets a row (default truth.csv)\n"
     "  --family NAME    the family of models (default: the script's name); --model NAME, --run NAME\n"
     "  --batch N        the batch size, where it is not seen\n"
     "  --interval MS    milliseconds between samples of the card (default 1)\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
    {"report", "plimsoll report [options] RECORD",
     "  --by WHAT        everyone who holds memory, by module, op, phase, category or stack\n"
     "  --at WHEN        the moment of --by: peak (default), end, or the number of a step\n"
     "  --gpu NAME,...   the cards to judge\n"
     "  --json           one JSON document\n"
     "  --html F         a page for the browser\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
    {"run", "plimsoll run [options] -- COMMAND...",
     "  --gpu NAME       the card to play (default a100-80gb); `plimsoll gpus` lists them\n"
     "  --gpus N         how many of them (default 1, or what CUDA_VISIBLE_DEVICES names)\n"
     "  --steps N        stop after N optimizer steps (default: when two are alike, 3 to 10); --until-exit\n"
     "  --detail LEVEL   full, low (no operators, no calls) or off: what is recorded besides memory\n"
     "  --assume WHAT    all=true, keep=0.5: values that steer the program (default: both ends)\n"
     "  --stack NAME     the stack file for library memory (default: one measured on such a card, if any)\n"
     "  --bounded        only the card's usable memory: PyTorch raises its own OutOfMemoryError\n"
     "  -o, --output F   the job record (default plimsoll-<script>.<pid>.plm); -f, --force replaces one\n"
     "  --json F         also write the report as JSON (- for stdout instead of the text)\n"
     "  --strict         exit 4 unless the confidence is high\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
    {"stacks", "plimsoll stacks [options] [NAME | FILE]",
     "  --gpu NAME       mark those that were made on such a card\n"
     "  --record F       mark those that go with a recorded job\n"
     "  --json           one JSON document\n"},
    {"symbols", "plimsoll symbols [options]",
     "  --library NAME   the functions of one library\n"
     "  --json           one JSON document\n"},
    {"trace", "plimsoll trace [options] -- COMMAND...",
     "  -o, --output F   the trace (default plimsoll-<script>.<pid>.trace.json.gz); -f, --force replaces one\n"
     "  --no-compute     make the memory of operators' results and no values: seconds instead of minutes\n"
     "  --iterations N   run so many, of which the first is not recorded (default 4)\n"},
    {"train", "plimsoll train [options] -o FILE DATA.csv",
     "  --method NAME    which method; schedtune is the one that learns\n"
     "  -o, --output F   where the forest goes; -f, --force replaces one\n"
     "  --trees N        how many trees (default 100); --seed N: another draw\n"
     "  --json           one JSON document; --color auto|always|never\n"},
    {"tune", "plimsoll tune [options] RECORD",
     "  --gpu NAME       try each setting on this card\n"
     "  --margin SIZE    of its memory leave so much free: 1GiB, 512m or 5%\n"
     "  --all            every setting, not the best twelve\n"
     "  --json           one JSON document\n"
     "  --bytes          bytes instead of GiB; --color auto|always|never\n"},
};

bool plm_help(const char *command, const char *summary)
{
    for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++)
        if (!strcmp(helps[i].command, command)) {
            printf("plimsoll %s: %s\n\n  %s\n\n%s\nMore in `man plimsoll-%s`.\n", command, summary, helps[i].usage,
                   helps[i].options, command);
            return true;
        }
    return false;
}
