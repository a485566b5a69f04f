#include "study/trace/event.h"

#include <string.h>

#include "common/error.h"
#include "base/json_read.h"

struct reading {
    struct plm_json_reader *json;
    const char *file;
    struct plm_trace_event *event;
    struct plm_error *error;
};

struct field {
    const char *key;
    size_t length; /* of the key */
    int (*read)(struct reading *r, const struct field *field, const struct plm_json_value *value);
    size_t place;  /* of a number in the event */
    unsigned flag; /* enum plm_trace_has */
};

static int field_refuse(const struct reading *r, const char *key, const char *what)
{
    return plm_fail(r->error, PLM_EFORMAT, "%s: event %zu: \"%s\" is not %s", r->file, r->event->number, key, what);
}

/* ---- numbers ---- */

bool plm_trace_nanoseconds(const char *text, int64_t *out)
{
    const bool negative = *text == '-';
    int64_t value = 0;
    int exponent = 0, scale = 3; /* decimal places that are still to come */
    bool point = false;
    for (text += negative; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        int64_t longer;
        if (*text == '.') {
            point = true;
        } else if (!__builtin_mul_overflow(value, 10, &longer) &&
                   !__builtin_add_overflow(longer, *text - '0', &longer)) {
            value = longer;
            scale -= point;
        } else if (!point || scale > 0) {
            return false;
        }
    }
    if ((*text | 0x20) == 'e') {
        const bool down = text[1] == '-';
        for (text += text[1] == '-' || text[1] == '+' ? 2 : 1; *text >= '0' && *text <= '9'; text++)
            exponent = exponent < 1000 ? 10 * exponent + (*text - '0') : exponent;
        scale += down ? -exponent : exponent;
    }
    if (*text)
        return false;
    for (; scale > 0 && value; scale--)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    for (; scale < 0 && value; scale++)
        value /= 10;
    *out = negative ? -value : value;
    return true;
}

static int read_time(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    int64_t value;
    if (v->token != PLM_JSON_NUMBER || !plm_trace_nanoseconds(v->text, &value))
        return field_refuse(r, field->key, "a time");
    memcpy((char *)r->event + field->place, &value, sizeof value);
    r->event->has |= field->flag;
    return 0;
}

/* null is as good as absent. */
static int read_whole(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    int64_t value;
    if (v->token == PLM_JSON_NULL)
        return 0;
    if (!plm_json_to_signed(v, &value))
        return field_refuse(r, field->key, "a whole number");
    memcpy((char *)r->event + field->place, &value, sizeof value);
    r->event->has |= field->flag;
    return 0;
}

/* ---- texts ---- */

static bool text_is(const struct plm_json_value *v, const char *text)
{
    return v->length == strlen(text) && !memcmp(v->text, text, v->length);
}

static int read_phase(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    if (v->token != PLM_JSON_STRING)
        return field_refuse(r, field->key, "a string");
    r->event->phase = v->length == 1 ? v->text[0] : '\0';
    return 0;
}

static int read_category(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    static const struct {
        const char *name;
        enum plm_trace_category category;
    } rows[] = {
        {"python_function", PLM_TRACE_PYTHON},
        {"cpu_op", PLM_TRACE_OP},
        {"cpu_instant_event", PLM_TRACE_INSTANT},
        {"user_annotation", PLM_TRACE_ANNOTATION},
        {"kernel", PLM_TRACE_GPU},
        {"gpu_memcpy", PLM_TRACE_GPU},
        {"gpu_memset", PLM_TRACE_GPU},
        {"gpu_user_annotation", PLM_TRACE_GPU},
    };
    if (v->token != PLM_JSON_STRING)
        return field_refuse(r, field->key, "a string");
    r->event->category = PLM_TRACE_OTHER;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (text_is(v, rows[i].name)) {
            r->event->category = rows[i].category;
            break;
        }
    return 0;
}

/* As much as fits; a character of several bytes is not cut in two. */
static void text_copy(char *out, size_t size, const struct plm_json_value *v)
{
    size_t n = v->length < size ? v->length : size - 1;
    if (n < v->length)
        while (n && ((unsigned char)v->text[n] & 0xc0) == 0x80)
            n--;
    memcpy(out, v->text, n);
    out[n] = '\0';
}

static bool text_ends_with(const struct plm_json_value *v, const char *end)
{
    const size_t n = strlen(end);
    return v->length >= n && !memcmp(v->text + v->length - n, end, n);
}

static int read_name(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    if (v->token != PLM_JSON_STRING)
        return field_refuse(r, field->key, "a string");
    r->event->zero_grad = text_ends_with(v, "): zero_grad"); /* FILE(LINE): FUNCTION */
    r->event->cross_entropy = text_ends_with(v, "): cross_entropy");
    text_copy(r->event->name, sizeof r->event->name, v);
    return 0;
}

/* Numbers, and names for the threads that are none. */
static int read_thread(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    uint64_t hash = 14695981039346656037u;
    if (v->token != PLM_JSON_STRING && v->token != PLM_JSON_NUMBER)
        return field_refuse(r, field->key, "a number or a string");
    for (size_t i = 0; i < v->length; i++)
        hash = (hash ^ (unsigned char)v->text[i]) * 0x100000001b3u;
    memcpy((char *)r->event + field->place, &hash, sizeof hash);
    return 0;
}

/* ---- arguments of operators ---- */

static struct plm_trace_to *event_inputs(struct plm_trace_event *event)
{
    if (!(event->has & PLM_HAS_INPUTS))
        event->to = (struct plm_trace_to){.elements = 0};
    event->has |= PLM_HAS_INPUTS;
    return &event->to;
}

/* Strings; what is none leaves its place empty. */
static int read_concrete(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    const size_t most = sizeof r->event->to.argument / sizeof r->event->to.argument[0];
    struct plm_trace_to *to = event_inputs(r->event);
    if (v->token != PLM_JSON_ARRAY)
        return field_refuse(r, field->key, "an array");
    memset(to->argument, 0, sizeof to->argument);
    for (size_t i = 0;; i++) {
        struct plm_json_value item;
        int status = plm_json_next(r->json, &item, r->error);
        if (status < 0 || item.token == PLM_JSON_END_ARRAY)
            return status;
        if (item.token == PLM_JSON_STRING && i < most)
            text_copy(to->argument[i], sizeof to->argument[i], &item);
        else if (item.token == PLM_JSON_ARRAY || item.token == PLM_JSON_OBJECT)
            status = plm_json_leave(r->json, r->error);
        if (status < 0)
            return status;
    }
}

/* The product of the first item's numbers; 0 if it is no shape, as that of a list of tensors. */
static int read_first_shape(struct reading *r, const struct field *field, uint64_t *elements)
{
    bool shape = true;
    *elements = 1;
    for (;;) {
        struct plm_json_value item;
        int64_t size;
        int status = plm_json_next(r->json, &item, r->error);
        if (status < 0 || item.token == PLM_JSON_END_ARRAY) {
            *elements = shape ? *elements : 0;
            return status;
        }
        if (item.token == PLM_JSON_ARRAY) {
            shape = false;
            status = plm_json_leave(r->json, r->error);
            if (status < 0)
                return status;
            continue;
        }
        if (!plm_json_to_signed(&item, &size) ||
            (size > 0 && __builtin_mul_overflow(*elements, (uint64_t)size, elements)))
            return field_refuse(r, field->key, "a list of shapes");
        if (!size)
            *elements = 0;
        shape &= size >= 0;
    }
}

static int read_dims(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    struct plm_trace_to *to = event_inputs(r->event);
    struct plm_json_value item;
    int status;
    if (v->token != PLM_JSON_ARRAY)
        return field_refuse(r, field->key, "an array");
    to->elements = 0;
    status = plm_json_next(r->json, &item, r->error);
    if (status < 0 || item.token == PLM_JSON_END_ARRAY)
        return status;
    if (item.token != PLM_JSON_ARRAY)
        return field_refuse(r, field->key, "a list of shapes");
    status = read_first_shape(r, field, &to->elements);
    return status < 0 ? status : plm_json_leave(r->json, r->error);
}

/* ---- objects ---- */

#define FIELD(key, read, place, flag) {key, sizeof(key) - 1, read, place, flag}
#define AT(member)                    offsetof(struct plm_trace_event, member)
static const struct field argument_fields[] = {
    FIELD("Python id", read_whole, AT(python_id), PLM_HAS_PYTHON_ID),
    FIELD("Python parent id", read_whole, AT(parent_id), PLM_HAS_PARENT_ID),
    FIELD("Sequence number", read_whole, AT(sequence), PLM_HAS_SEQUENCE),
    FIELD("Bytes", read_whole, AT(bytes), PLM_HAS_BYTES),
    FIELD("Addr", read_whole, AT(address), PLM_HAS_ADDRESS),
    FIELD("Device Type", read_whole, AT(device_type), PLM_HAS_DEVICE_TYPE),
    FIELD("Concrete Inputs", read_concrete, 0, 0),
    FIELD("Input Dims", read_dims, 0, 0),
};

static int read_fields(struct reading *r, const struct field *fields, size_t count)
{
    for (;;) {
        const struct field *field = NULL;
        struct plm_json_value v;
        int status = plm_json_next(r->json, &v, r->error);
        if (status < 0 || v.token == PLM_JSON_END_OBJECT)
            return status;
        for (size_t i = 0; i < count && !field; i++)
            if (v.length == fields[i].length && !memcmp(v.text, fields[i].key, v.length))
                field = &fields[i];
        if (!field)
            status = plm_json_skip(r->json, r->error);
        else if (!(status = plm_json_next(r->json, &v, r->error)))
            status = field->read(r, field, &v);
        if (status < 0)
            return status;
    }
}

static int read_arguments(struct reading *r, const struct field *field, const struct plm_json_value *v)
{
    if (v->token != PLM_JSON_OBJECT)
        return field_refuse(r, field->key, "an object");
    return read_fields(r, argument_fields, sizeof argument_fields / sizeof argument_fields[0]);
}

static const struct field event_fields[] = {
    FIELD("ph", read_phase, 0, 0),
    FIELD("cat", read_category, 0, 0),
    FIELD("name", read_name, 0, 0),
    FIELD("pid", read_thread, AT(process), 0),
    FIELD("tid", read_thread, AT(thread), 0),
    FIELD("ts", read_time, AT(start), PLM_HAS_START),
    FIELD("dur", read_time, AT(duration), PLM_HAS_DURATION),
    FIELD("args", read_arguments, 0, 0),
};

int plm_trace_event_read(struct plm_json_reader *json, const char *file, struct plm_trace_event *event,
                         struct plm_error *error)
{
    struct reading r = {json, file, event, error};
    event->category = PLM_TRACE_OTHER;
    event->phase = event->name[0] = '\0';
    event->has = 0;
    event->process = event->thread = 0;
    event->zero_grad = event->cross_entropy = false;
    return read_fields(&r, event_fields, sizeof event_fields / sizeof event_fields[0]);
}
