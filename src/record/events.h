/*
 * The events of a job record as C has them: their numbers, the values of their fields, and a structure for the payload of
 * each, made of events.def. A structure is laid out as in the file (little-endian, as the machines that CUDA runs on), so
 * that nothing has to be shifted together; fields.c checks that. writer.h puts an event into a record, reader.h gets it out.
 */
#ifndef PLM_RECORD_EVENTS_H
#define PLM_RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enum plm_record_event_type: PLM_EV_GEMM, ... */
enum plm_record_event_type {
#define EVENT(NAME, name, number, since, meaning) PLM_EV_##NAME = number,
#define ROW(...)
#define EVENT_END(NAME, name)
#include "record/events.def"
    PLM_EV_TYPES
};

/* Is it a call, which has CALL() in events.def? */
#define EVENT(NAME, name, number, since, meaning) enum { PLM_EV_CALLS_##name = 0
#define CALL(event)                               +1
#define ROW(...)
#define EVENT_END(NAME, name) \
    }                         \
    ;
#include "record/events.def"
_Static_assert(PLM_EV_TYPES <= 64, "a bit for each");

static inline bool plm_record_event_is_call(unsigned type)
{
    const uint64_t calls = 0
#define EVENT(NAME, name, number, since, meaning) | (uint64_t)PLM_EV_CALLS_##name << number
#define CALL(event)
#define ROW(...)
#define EVENT_END(NAME, name)
#include "record/events.def"
        ;
    return type < PLM_EV_TYPES && (calls >> type & 1);
}

/* enum plm_phase, ... */
#define VALUES(set, count) \
    enum plm_##set         \
    {
#define VALUE(set, constant, name, meaning) constant,
#define VALUES_END(set, count) \
    count                      \
    }                          \
    ;
#include "record/events.def"

#define PLM_C_u8(name)  uint8_t name;
#define PLM_C_u16(name) uint16_t name;
#define PLM_C_u32(name) uint32_t name;
#define PLM_C_u64(name) uint64_t name;
#define PLM_C_b1(name)  uint32_t name : 1;
#define PLM_C_b2(name)  uint8_t name : 2;
#define PLM_C_b31(name) uint32_t name : 31;

/* struct plm_ev_call, struct plm_ev_axis: parts of the following. */
enum { PLM_EV_AXES = 3 };
#define PART(name)                                         struct plm_ev_##name {
#define ROW(event, place, must, type, name, kind, meaning) PLM_C_##type(name)
#define PART_END(name) \
    }                  \
    ;
#include "record/events.def"

/* struct plm_ev_gemm, ... */
#define EVENT(NAME, name, number, since, meaning)          struct plm_ev_##name {
#define CALL(event)                                        struct plm_ev_call call;
#define AXES(event)                                        struct plm_ev_axis axis[PLM_EV_AXES];
#define ROW(event, place, must, type, name, kind, meaning) PLM_C_##type(name)
#define EVENT_END(NAME, name) \
    }                         \
    ;
#include "record/events.def"

/* Words of a payload that ends before this field. */
#define PLM_EV_BEFORE(event, field) ((unsigned)(offsetof(struct plm_ev_##event, field) / 8))

#define PLM_STREAM_UNKNOWN 0x7fffffffu

/* Sizes that do not fit their field are cut to its largest value. */
static inline uint32_t plm_ev_u32(int64_t value)
{
    return value < 0 ? 0 : value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static inline uint16_t plm_ev_u16(int64_t value)
{
    return (uint16_t)(value < 0 ? 0 : value < UINT16_MAX ? value : UINT16_MAX);
}

/* Words of the payload of a convolution with so many axes. */
static inline unsigned plm_ev_convolution_words(int axes)
{
    return PLM_EV_BEFORE(convolution, axis) + (unsigned)axes * (unsigned)(sizeof(struct plm_ev_axis) / 8);
}

/* The second count of PLM_COUNT_TENSORS. */
static inline uint64_t plm_ev_tensors(uint32_t tensors, uint32_t lists)
{
    return (uint64_t)lists << 32 | tensors;
}

#endif
