#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "device/context.h"
#include "device/internal.h"
#include "device/operands.h"
#include "device/tensors.h"
#include "device/values.h"
#include "torch/facts.h"

/*
 * PyTorch tells observers when an operator or a node of the backward pass begins and ends
 * (at::addGlobalCallback, ATen/record_function.h). Its functions are exported from libtorch_cpu; they are
 * C++ and are called here by their mangled names. What is passed are plain structures of 40 and 24 bytes.
 * The one thing that has no exported getter is a node's sequence number: where it stands in a
 * RecordFunction is found by making one with a number that does not occur otherwise. How the structures are laid out
 * cannot be found: in a release that nobody looked at (src/torch/facts.c), and where a function is missing, nothing is
 * observed and the report says so.
 */

enum { SCOPE_FUNCTION = 0, SCOPE_BACKWARD = 1, SCOPE_USER = 7, SCOPES = 10 };
enum { ROOM = 2048 }; /* a RecordFunction is a few hundred bytes */

typedef void *start_callback(void *context_out, const void *function);
typedef void end_callback(const void *function, void *context);

struct callback { /* at::RecordFunctionCallback */
    start_callback *start;
    end_callback *end;
    double probability;
    bool scope[SCOPES];
    bool needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct callback) == 40, "as PyTorch lays it out");

struct descriptor { /* std::variant<std::string_view, ...> that holds the first */
    size_t length;
    const char *text;
    uint8_t index;
};

static struct {
    uint64_t (*add)(struct callback);
    const char *(*name)(const void *);
    int64_t (*peek)(void);
    void (*make)(void *, uint8_t scope);
    void (*begin)(void *, struct descriptor, int64_t);
    void (*begin_text)(void *, const char *, int64_t); /* in older releases */
    void (*drop)(void *);
    void (*enable)(uint64_t), (*disable)(uint64_t);
    void *(*operator_name)(void *out, const void *);
    size_t sequence_at;
    bool observed;   /* operators are */
    uint64_t inputs; /* handle of the observer that wants inputs; 0: there is none */
} torch;

static const struct {
    enum plm_torch_fact fact;
    void **slot;
    bool needed;
} wanted[] = {
    {PLM_TORCH_OBSERVE, (void **)&torch.add, true},
    {PLM_TORCH_FUNCTION_NAME, (void **)&torch.name, true},
    {PLM_TORCH_SEQUENCE_NEXT, (void **)&torch.peek, true},
    {PLM_TORCH_FUNCTION_MAKE, (void **)&torch.make, true},
    {PLM_TORCH_FUNCTION_DROP, (void **)&torch.drop, true},
    {PLM_TORCH_FUNCTION_BEGIN, (void **)&torch.begin, false},
    {PLM_TORCH_FUNCTION_BEGIN_TEXT, (void **)&torch.begin_text, false},
    {PLM_TORCH_OBSERVE_ENABLE, (void **)&torch.enable, false},
    {PLM_TORCH_OBSERVE_DISABLE, (void **)&torch.disable, false},
    {PLM_TORCH_OPERATOR_NAME, (void **)&torch.operator_name, false},
};

static bool find_functions(void)
{
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].slot = plm_device_torch_function(wanted[i].fact);
        if (wanted[i].needed && !*wanted[i].slot)
            return false;
    }
    return torch.begin || torch.begin_text;
}

static bool find_sequence(void)
{
    static const int64_t mark = 0x504c4d5345510001;
    static const char text[] = "plimsoll";
    _Alignas(16) static char object[ROOM];
    int found = 0;

    torch.make(object, SCOPE_USER);
    if (torch.begin)
        torch.begin(object, (struct descriptor){sizeof text - 1, text, 0}, mark);
    else
        torch.begin_text(object, text, mark);
    for (size_t at = 0; at + 8 <= ROOM; at += 8)
        if (!memcmp(object + at, &mark, 8)) {
            torch.sequence_at = at;
            found++;
        }
    torch.drop(object);
    return found == 1;
}

/* Returns a std::unique_ptr that holds nothing: in memory, with its address as the result. */
static void *operator_begins(void *context_out, const void *function)
{
    *(void **)context_out = NULL;
    plm_context_enter_operator(function, torch.name(function));
    return context_out;
}

static void *node_begins(void *context_out, const void *function)
{
    int64_t sequence;
    *(void **)context_out = NULL;
    memcpy(&sequence, (const char *)function + torch.sequence_at, 8);
    plm_context_enter_node(function, torch.name(function), sequence);
    return context_out;
}

static void ends(const void *function, void *context)
{
    (void)context;
    plm_context_leave_operator(function);
}

/* ---- inputs: an observer of its own, which comes after the one above and is switched on and off ---- */

static struct {
    enum plm_observe_sample what;
    uint64_t object[2];
    bool found;
} sample;

/* Operators call others: the first that fits is the one that was meant. */
static void sample_begins(const void *function)
{
    if (sample.what == PLM_SAMPLE_TENSORS)
        sample.found |= plm_tensors_locate_inputs(function, torch.sequence_at + 8, sample.object);
    else if (sample.what == PLM_SAMPLE_LIST)
        sample.found |= plm_tensors_locate_list(function, sample.object);
    else if (sample.what == PLM_SAMPLE_KIND && !sample.found)
        sample.found = plm_tensors_learn_kind(function, sample.object[0], (enum plm_ivalue_kind)sample.object[1]);
}

static void *inputs_begin(void *context_out, const void *function)
{
    *(void **)context_out = NULL;
    if (sample.what == PLM_SAMPLE_NONE)
        plm_operands_enter(function);
    else
        sample_begins(function);
    return context_out;
}

static void inputs_end(const void *function, void *context)
{
    (void)function, (void)context;
}

/* ---- inputs and outputs: an observer that stays ---- */

static void *values_begin(void *context_out, const void *function)
{
    *(void **)context_out = NULL;
    if (sample.what == PLM_SAMPLE_NONE)
        plm_values_enter(function);
    else
        sample_begins(function);
    return context_out;
}

static void values_end(const void *function, void *context)
{
    (void)context;
    if (sample.what == PLM_SAMPLE_NONE)
        plm_values_leave(function);
    else if (sample.what == PLM_SAMPLE_OUTPUT)
        sample.found |= plm_tensors_locate_outputs(function, torch.sequence_at + 8, sample.object[0]);
}

static bool found(void);

bool plm_observe_values(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!found() || !torch.operator_name)
        return false;
    if (!atomic_flag_test_and_set(&done))
        torch.add((struct callback){values_begin, values_end, 1.0, {[SCOPE_FUNCTION] = true}, true, true, false});
    return true;
}

const char *plm_observe_name(const void *function)
{
    return torch.name(function);
}

/* An optional pair of strings. What is allocated for them stays: it is asked for once for every operator. A string begins
   with the address of its characters. In the older of the two layouts of libstdc++ that is all of it; in the other, the
   number of characters follows, and two words. */
bool plm_observe_operator(const void *function, char *name, char *overload, size_t size)
{
    enum { WORDS = 12, SECOND = 4 };
    uintptr_t words[WORDS] = {0};
    torch.operator_name(words, function);
    if (!words[0])
        return false;
    snprintf(name, size, "%s", (const char *)words[0]);
    snprintf(overload, size, "%s", (const char *)(words[1] == strlen(name) ? words[SECOND] : words[1]));
    return true;
}

bool plm_observe_inputs(void)
{
    if (!torch.sequence_at || !torch.observed || !torch.enable || !torch.disable)
        return false;
    if (!torch.inputs)
        torch.inputs =
            torch.add((struct callback){inputs_begin, inputs_end, 1.0, {[SCOPE_FUNCTION] = true}, true, false, false});
    return torch.inputs != 0;
}

void plm_observe_looking(bool look)
{
    if (torch.inputs)
        (look ? torch.enable : torch.disable)(torch.inputs);
}

void plm_observe_sample(enum plm_observe_sample what, uint64_t first, uint64_t second)
{
    sample.object[0] = first;
    sample.object[1] = second;
    sample.found = false;
    sample.what = what;
}

bool plm_observe_sampled(void)
{
    sample.what = PLM_SAMPLE_NONE;
    return sample.found;
}

/* ---- start ---- */

/* Once; whoever asks first does so while torch is imported, in one thread. */
static bool found(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&done) &&
        (!plm_torch_holds(PLM_TORCH_CALLBACK, plm_device_torch_release()) || !find_functions() || !find_sequence()))
        torch.sequence_at = 0;
    return torch.sequence_at != 0;
}

bool plm_observe(bool operators)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!found() || atomic_flag_test_and_set(&done))
        return torch.sequence_at != 0;
    torch.add((struct callback){node_begins, ends, 1.0, {[SCOPE_BACKWARD] = true}, false, false, false});
    torch.observed = operators;
    if (operators)
        torch.add((struct callback){operator_begins, ends, 1.0, {[SCOPE_FUNCTION] = true}, false, false, false});
    return true;
}

int64_t plm_observe_sequence(void)
{
    return torch.sequence_at ? torch.peek() : -1;
}
