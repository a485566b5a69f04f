#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "time/build.h"

/* ---- what an operator works on ---- */

void plm_build_operands(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_operands said = plm_get_operands(e);
    const uint64_t key = plm_build_key(e->process, said.context);
    uint64_t at = plm_map_get(&b->operands_of, key);
    if (at == PLM_MAP_NONE) {
        b->operands = plm_grow(b->operands, b->operand_count, &b->operand_room, sizeof *b->operands);
        at = b->operand_count++;
        plm_map_put(&b->operands_of, key, at);
    }
    b->operands[at] = said;
}

/* Bytes of the operator's results and inputs, as far as they are known; of each the largest tensor. */
struct operands {
    double result, input;
    double inputs;                      /* all of them together; 0: not known */
    const struct plm_ev_operands *said; /* NULL: nothing */
};

/* A kernel that an operator launches again and again works on a slice of its tensors each time (one image of a batch).
   Which part that is shows when the series ends: then its calls get their share. */
static void series_end(struct plm_build *b, struct plm_build_thread *t)
{
    struct plm_work work;
    uint32_t slice;
    if (t->series < 2 || t->lane >= b->works->lanes)
        return;
    memcpy(&work, &b->works->work[t->work], sizeof work);
    work.read /= t->series;
    work.written /= t->series;
    work.flops /= t->series;
    slice = plm_build_work(b, &work);
    for (size_t i = t->first; i < b->works->lane[t->lane].calls; i++)
        if (b->works->lane[t->lane].call[i].work == t->work)
            b->works->lane[t->lane].call[i].work = slice;
}

void plm_build_output(struct plm_build *b, const struct plm_record_event *e)
{
    const struct plm_ev_block_alloc a = plm_get_block_alloc(e);
    struct plm_build_thread *t = &b->thread[e->thread];
    if (t->context != a.context || t->launched) {
        series_end(b, t);
        t->series = 0;
        t->context = a.context;
        t->launched = false;
        t->largest = 0;
    }
    if (a.bytes > t->largest)
        t->largest = a.bytes;
}

static struct operands operands_of(struct plm_build *b, const struct plm_record_event *e, uint32_t context)
{
    struct plm_build_thread *t = &b->thread[e->thread];
    const uint64_t at = context ? plm_map_get(&b->operands_of, plm_build_key(e->process, context)) : PLM_MAP_NONE;
    struct operands o = {0, 0, 0, NULL};
    if (t->context == context) {
        t->launched = true;
        o.result = o.input = (double)t->largest;
    }
    if (at != PLM_MAP_NONE && b->operands[at].tensors) {
        o.said = &b->operands[at];
        o.input = (double)o.said->elements * o.said->element_bytes;
        o.inputs = (double)o.said->bytes;
        if (o.result <= 0)
            o.result = o.input; /* it writes in place */
    }
    return o;
}

/* The call that was just added: one more of a series, or the first. Only what takes its size from its operator is one.
   */
static void series_add(struct plm_build *b, const struct plm_record_event *e, uint32_t context)
{
    struct plm_build_thread *t = &b->thread[e->thread];
    const size_t lane = b->process[e->process].lane, last = b->works->lane[lane].calls - 1;
    const uint32_t work = b->works->lane[lane].call[last].work;
    if (t->context != context)
        return;
    if (t->series && t->work == work && t->lane == lane)
        t->series++;
    else {
        series_end(b, t);
        t->series = 1;
        t->work = work;
        t->lane = lane;
        t->first = last;
    }
}

/* ---- names ---- */

static const struct plm_time_kernel_form *form_of(struct plm_build *b, uint32_t name)
{
    while (b->forms <= name) {
        b->form = plm_grow(b->form, b->forms, &b->form_room, sizeof *b->form);
        b->form[b->forms++] = (struct plm_time_kernel_form){.class = PLM_WORK_CLASSES};
    }
    if (b->form[name].class == PLM_WORK_CLASSES)
        b->form[name] = plm_time_kernel_form(b->works->names.text[name]);
    return &b->form[name];
}

/* ---- sizes ---- */

/* Bytes of an element of the result, if what the operator allocated is so many elements, rounded up a little. */
static double result_bytes_per(double elements, const struct operands *o, double otherwise)
{
    static const double sizes[] = {1, 2, 4, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (o->result >= elements * sizes[i] && o->result < elements * sizes[i] * 1.02 + 2048)
            return sizes[i];
    return otherwise;
}

/* A tensor that is gone through by strides beside another one is broadcast, as a rule: then it is small. */
static void size_elements(const struct plm_time_kernel_form *form, double elements, const struct operands *o,
                          struct plm_work *w)
{
    const double to = form->pointers > 0 ? result_bytes_per(elements, o, form->bytes_per) : form->bytes_per;
    double from = form->from_bytes ? (to == 2 ? 4 : to == 4 ? 2 : form->from_bytes) : form->bytes_per;
    double inputs = form->pointers > 1 ? form->pointers - 1 : 0;
    if (!form->from_bytes && to > 1)
        from = to;
    if (form->strided && inputs > 1)
        inputs = 1;
    w->read = inputs * elements * from;
    w->written = elements * to;
    w->bytes_per = (uint8_t)to;
}

static void size_lists(const struct plm_time_kernel_form *form, const struct plm_ev_launch *l, const char *name,
                       struct plm_work *w)
{
    const double lists = (double)(l->count_2 >> 32), bytes = (double)l->count * form->bytes_per;
    const bool optimizer = strstr(name, "Fused") != NULL;
    w->read = lists * bytes;
    w->written = (optimizer && lists > 1 ? lists - 1 : 1) * bytes;
}

/* Queries, keys, heads and their size: as the launch's grid shows them, or as the operator was given them (batch,
   position, head, size; a backward pass has the gradient first). */
struct attention {
    double queries, keys, heads, size;
};

static struct attention attention_of(const struct plm_time_kernel_form *form, const struct plm_ev_launch *l,
                                     const struct operands *o)
{
    struct attention a = {(double)l->grid_x * form->rows, 0, (double)l->grid_y * l->grid_z, form->head};
    if (o->said && o->said->first_dimensions == 4 && o->said->second_dimensions == 4) {
        a.queries = o->said->first_2;
        a.keys = form->backward && o->said->third_dimensions == 4 ? o->said->third_2 : o->said->second_2;
        a.heads = (double)o->said->first_1 * o->said->first_3;
        a.size = o->said->first_4;
    } else if (o->result > 0)
        a.size = fmin(a.size > 0 ? a.size : 256, o->result / fmax(a.queries * a.heads * form->bytes_per, 1));
    if (a.keys <= 0)
        a.keys = a.queries;
    return a;
}

static void size_attention(const struct plm_time_kernel_form *form, const struct plm_ev_launch *l,
                           const struct operands *o, struct plm_work *w)
{
    const struct attention a = attention_of(form, l, o);
    const double row = a.heads * a.size * form->bytes_per;
    w->sized = a.size > 0;
    w->type = form->bytes_per == 2 ? PLM_WORK_FP16 : PLM_WORK_TF32;
    w->m = (uint32_t)fmin(a.queries, UINT32_MAX);
    w->n = (uint32_t)fmin(a.keys, UINT32_MAX);
    w->k = (uint32_t)fmin(ceil(a.size), UINT32_MAX);
    w->batch = (uint32_t)fmin(a.heads, UINT32_MAX);
    w->flops = (form->backward ? 10.0 : 4.0) * a.queries * a.keys * a.size * a.heads;
    w->read = ((form->backward ? 3 : 1) * a.queries + 2 * a.keys) * row;
    w->written = (a.queries + (form->backward ? 2 * a.keys : 0)) * row;
    w->operation = form->backward;
}

/* The filter is the last of the first three tensors that has one channel. */
static double taps_of(const struct plm_time_kernel_form *form, const struct operands *o)
{
    if (o->said && form->backward && o->said->third_dimensions == 4)
        return (double)o->said->third_3 * o->said->third_4;
    if (o->said && !form->backward && o->said->second_dimensions == 4)
        return (double)o->said->second_3 * o->said->second_4;
    return form->taps ? form->taps : 9;
}

static void size_depthwise(const struct plm_time_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    const double elements = fmax(o->result, form->backward ? o->input : 0) / form->bytes_per;
    w->filter = (uint32_t)fmin(taps_of(form, o), UINT16_MAX);
    w->read = form->backward && o->inputs > 0 ? o->inputs : o->input;
    w->written = o->result;
    w->flops = 2 * elements * w->filter;
    w->operation = form->backward;
    w->sized = elements > 0;
}

/* What is gathered is as large as the result, whatever it is taken from. */
static void size_gather(const struct plm_time_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    const double moved = fmin(o->input, o->result);
    w->read = form->reads * moved;
    w->written = form->writes * moved;
    w->sized = moved > 0 || form->reads <= 0;
}

/* Many operators sort indices and not what they were given: a thread has some twenty keys with their values. */
static void size_sort(const struct plm_time_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    const double keys = w->grid ? fmin(o->input, (double)w->grid * w->block * 20 * 16) : o->input;
    w->read = form->reads * keys;
    w->written = form->writes * keys;
    w->sized = keys > 0 || form->reads <= 0;
}

static void size_operator(const struct plm_time_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    w->read = form->reads * o->input;
    w->written = form->writes * o->result;
    w->sized = o->input > 0 || (form->reads <= 0 && form->writes <= 0);
    if (o->said)
        w->bytes_per = o->said->element_bytes;
    if (form->class == PLM_WORK_NORMALIZATION)
        w->operation = form->reads > 1 || form->writes <= 0; /* it computes statistics */
}

/* Of the kernels that a compiler made only their arguments are known: at the most all of them are gone through, once.
   */
static void size_generated(const struct operands *o, struct plm_work *w)
{
    w->read = o->inputs;
    w->sized = o->inputs > 0;
}

static void size_by_class(const struct plm_time_kernel_form *form, const struct plm_ev_launch *l,
                          const struct operands *o, struct plm_work *w)
{
    switch (form->class) {
    case PLM_WORK_ATTENTION: size_attention(form, l, o, w); break;
    case PLM_WORK_DEPTHWISE: size_depthwise(form, o, w); break;
    case PLM_WORK_GENERATED: size_generated(o, w); break;
    case PLM_WORK_GATHER: size_gather(form, o, w); break;
    case PLM_WORK_SORT: size_sort(form, o, w); break;
    default: size_operator(form, o, w); break;
    }
}

static void size_launch(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_launch *l,
                        const struct plm_time_kernel_form *form, struct plm_work *w)
{
    const struct operands o = operands_of(b, e, l->call.context);
    w->sized = true;
    if (l->counts == PLM_COUNT_ELEMENTS)
        size_elements(form, (double)l->count, &o, w);
    else if (l->counts == PLM_COUNT_REDUCTION) {
        w->read = (double)l->count * form->bytes_per;
        w->written = (double)l->count_2 * form->bytes_per;
    } else if (l->counts == PLM_COUNT_TENSORS)
        size_lists(form, l, b->works->names.text[w->name], w);
    else
        size_by_class(form, l, &o, w);
}

void plm_build_launch(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_launch *l)
{
    struct plm_work work;
    const struct plm_time_kernel_form *form;
    memset(&work, 0, sizeof work);
    work.name = plm_build_name(b, e->process, l->name);
    form = form_of(b, work.name);
    work.class = form->class;
    work.type = PLM_WORK_FP32;
    work.bytes_per = form->bytes_per;
    work.strided = form->strided;
    work.columns = form->columns;
    if (!l->routine) {
        const double grid = (double)l->grid_x * (l->grid_y ? l->grid_y : 1) * (l->grid_z ? l->grid_z : 1);
        work.grid = (uint32_t)fmin(grid, UINT32_MAX);
        work.block = (uint32_t)l->block_x * (l->block_y ? l->block_y : 1) * (l->block_z ? l->block_z : 1);
        work.shared = l->shared_bytes;
    }
    size_launch(b, e, l, form, &work);
    plm_build_call(b, e, &l->call, &work, 0);
    if (l->counts == PLM_COUNT_NONE && !l->call.graph)
        series_add(b, e, l->call.context);
}
