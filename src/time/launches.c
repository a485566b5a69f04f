#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "time/build.h"

/* ---- what an operator works on ---- */

/* Bytes of the operator's results and inputs, as far as they are known; of each the largest tensor. */
struct operands {
    double result, input;
};

/* A kernel that an operator launches again and again works on a slice of its tensors each time (one image of a batch). Which part that
   is shows when the series ends: then its calls get their share. */
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
        t->bytes = t->largest = 0;
    }
    t->bytes += a.bytes;
    if (a.bytes > t->largest)
        t->largest = a.bytes;
}

static struct operands operands_of(struct plm_build *b, const struct plm_record_event *e, uint32_t context)
{
    struct plm_build_thread *t = &b->thread[e->thread];
    struct operands o = {0, 0};
    if (t->context != context)
        return o;
    t->launched = true;
    o.result = (double)t->largest;
    o.input = o.result;
    return o;
}

/* The call that was just added: one more of a series, or the first. Only what takes its size from its operator is one. */
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

static uint32_t name_number(struct plm_build *b, uint32_t process, uint32_t text)
{
    const uint64_t key = (uint64_t)process << 32 | text;
    uint64_t known = plm_map_get(&b->name_of, key);
    if (known == PLM_MAP_NONE) {
        known = plm_names_add(&b->works->names, plm_record_string(b->record, process, text));
        plm_map_put(&b->name_of, key, known);
    }
    return (uint32_t)known;
}

static const struct plm_kernel_form *form_of(struct plm_build *b, uint32_t name)
{
    while (b->forms <= name) {
        b->form = plm_grow(b->form, b->forms, &b->form_room, sizeof *b->form);
        b->form[b->forms++] = (struct plm_kernel_form){.class = PLM_WORK_CLASSES};
    }
    if (b->form[name].class == PLM_WORK_CLASSES)
        b->form[name] = plm_kernel_form(b->works->names.text[name]);
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
static void size_elements(const struct plm_kernel_form *form, double elements, const struct operands *o, struct plm_work *w)
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

static void size_lists(const struct plm_kernel_form *form, const struct plm_ev_launch *l, const char *name, struct plm_work *w)
{
    const double lists = (double)(l->count_2 >> 32), bytes = (double)l->count * form->bytes_per;
    const bool optimizer = strstr(name, "Fused") != NULL;
    w->read = lists * bytes;
    w->written = (optimizer && lists > 1 ? lists - 1 : 1) * bytes;
}

static void size_attention(const struct plm_kernel_form *form, const struct plm_ev_launch *l, const struct operands *o,
                           struct plm_work *w)
{
    const double rows = (double)l->grid_x * form->rows, heads = (double)l->grid_y * l->grid_z;
    double head = form->head;
    if (o->result > 0)
        head = fmin(head > 0 ? head : 256, o->result / (rows * heads * form->bytes_per));
    w->sized = head > 0;
    w->type = PLM_WORK_FP16;
    w->m = w->n = (uint32_t)rows;
    w->k = (uint32_t)ceil(head);
    w->batch = (uint32_t)heads;
    w->flops = (form->backward ? 10.0 : 4.0) * rows * rows * head * heads;
    w->read = (form->backward ? 5 : 3) * rows * heads * head * form->bytes_per;
    w->written = (form->backward ? 3 : 1) * rows * heads * head * form->bytes_per;
    w->operation = form->backward;
}

static void size_depthwise(const struct plm_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    const double elements = o->result / form->bytes_per;
    w->filter = form->taps ? form->taps : 9;
    w->read = o->input;
    w->written = o->result;
    w->flops = 2 * elements * w->filter;
    w->operation = form->backward;
    w->sized = o->result > 0;
}

static void size_operator(const struct plm_kernel_form *form, const struct operands *o, struct plm_work *w)
{
    w->read = form->reads * o->input;
    w->written = form->writes * o->result;
    w->sized = o->result > 0 || (form->reads <= 0 && form->writes <= 0);
}

static void size_launch(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_launch *l,
                        const struct plm_kernel_form *form, struct plm_work *w)
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
    else if (form->class == PLM_WORK_ATTENTION)
        size_attention(form, l, &o, w);
    else if (form->class == PLM_WORK_DEPTHWISE)
        size_depthwise(form, &o, w);
    else
        size_operator(form, &o, w);
}

void plm_build_launch(struct plm_build *b, const struct plm_record_event *e, const struct plm_ev_launch *l)
{
    struct plm_work work;
    const struct plm_kernel_form *form;
    memset(&work, 0, sizeof work);
    work.name = name_number(b, e->process, l->name);
    form = form_of(b, work.name);
    work.class = form->class;
    work.type = PLM_WORK_FP32;
    work.bytes_per = form->bytes_per;
    work.strided = form->strided;
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
