/*
 * Descriptors of cuDNN's graph API. Each is a bag of attributes: name, type, count, bytes.
 *
 * A descriptor is reference-counted: the caller holds one reference, and every attribute that names
 * another descriptor holds one, so a caller may destroy in any order. Descriptors are changed by one
 * thread at a time, as in the real library; counts are atomic because finished ones are shared.
 * Attribute and descriptor numbers are those of the public API; only those we answer have names.
 */
#ifndef PLM_SHIM_DNN_BACKEND_H
#define PLM_SHIM_DNN_BACKEND_H

#include <stdatomic.h>

#include "shim/cudnn/dnn.h"

struct plm_stream;

enum plm_backend_kind {
    PLM_BACKEND_ENGINE = 2,
    PLM_BACKEND_ENGINE_CONFIG = 3,
    PLM_BACKEND_HEURISTIC = 4,
    PLM_BACKEND_PLAN = 5,
    PLM_BACKEND_CONV_FORWARD = 10,
    PLM_BACKEND_CONV_BACKWARD_FILTER = 11,
    PLM_BACKEND_CONV_BACKWARD_DATA = 12,
    PLM_BACKEND_GRAPH = 15,
    PLM_BACKEND_TENSOR = 17,
    PLM_BACKEND_OPERATION_MATMUL = 19,
    PLM_BACKEND_KERNEL_CACHE = 34,
    PLM_BACKEND_DEVICE = 38,
    PLM_BACKEND_ATTENTION_FORWARD = 41,
    PLM_BACKEND_KINDS = 256, /* newer versions add kinds; a bag holds them all */
};

enum plm_backend_type {
    PLM_TYPE_HANDLE = 0,
    PLM_TYPE_DATA_TYPE = 1,
    PLM_TYPE_BOOLEAN = 2,
    PLM_TYPE_INT64 = 3,
    PLM_TYPE_DOUBLE = 5,
    PLM_TYPE_POINTER = 6,
    PLM_TYPE_NUMERICAL_NOTE = 11,
    PLM_TYPE_DESCRIPTOR = 15,
    PLM_TYPE_BEHAVIOR_NOTE = 19,
    PLM_TYPE_REORDERING = 20,
    PLM_TYPE_INT32 = 23,
    PLM_TYPE_CHAR = 24,
    PLM_TYPE_FRACTION = 26,
    PLM_TYPES = 64,
};

enum plm_backend_name {
    PLM_ATTR_CONV_DILATIONS = 102,
    PLM_ATTR_CONV_STRIDES = 103,
    PLM_ATTR_CONV_PADDINGS = 105, /* before the first element */
    PLM_ATTR_HEURISTIC_MODE = 200,
    PLM_ATTR_HEURISTIC_GRAPH = 201,
    PLM_ATTR_HEURISTIC_RESULTS = 202,
    PLM_ATTR_CONFIG_ENGINE = 300,
    PLM_ATTR_CONFIG_INTERMEDIATES = 301,
    PLM_ATTR_CONFIG_KNOBS = 302,
    PLM_ATTR_CONFIG_WORKSPACE = 303,
    PLM_ATTR_CONFIG_SHARED_MEMORY = 304,
    PLM_ATTR_PLAN_CONFIG = 401,
    PLM_ATTR_PLAN_WORKSPACE = 402,
    PLM_ATTR_PLAN_COMPUTED_UIDS = 403,
    PLM_ATTR_PLAN_RUN_ONLY_UIDS = 404,
    PLM_ATTR_PLAN_JSON = 405,
    PLM_ATTR_GRAPH_OPERATIONS = 801,
    PLM_ATTR_GRAPH_ENGINES = 802,
    PLM_ATTR_GRAPH_DYNAMIC = 803,
    PLM_ATTR_GRAPH_SAME_TOPOLOGY = 804,
    PLM_ATTR_TENSOR_TYPE = 901,
    PLM_ATTR_TENSOR_SIZES = 902,
    PLM_ATTR_TENSOR_STRIDES = 903,
    PLM_ATTR_TENSOR_VECTOR_COUNT = 904,
    PLM_ATTR_TENSOR_VIRTUAL = 907,
    PLM_ATTR_TENSOR_BY_VALUE = 908,
    PLM_ATTR_TENSOR_REORDERING = 909,
    PLM_ATTR_ENGINE_GRAPH = 1300,
    PLM_ATTR_ENGINE_INDEX = 1301,
    PLM_ATTR_ENGINE_KNOBS = 1302,
    PLM_ATTR_ENGINE_NUMERICAL_NOTES = 1303,
    PLM_ATTR_ENGINE_LAYOUTS = 1304,
    PLM_ATTR_ENGINE_BEHAVIOR_NOTES = 1305,
    PLM_ATTR_PACK_WORKSPACE = 1003,
    PLM_ATTR_MATMUL_A = 1520,
    PLM_ATTR_MATMUL_B = 1521,
    PLM_ATTR_MATMUL_C = 1522,
    PLM_ATTR_CACHE_HOLDS_KERNEL = 2401,
    PLM_ATTR_CACHE_JSON = 2402,
    PLM_ATTR_DEVICE_ID = 2700,
    PLM_ATTR_DEVICE_JSON = 2702,
    PLM_ATTR_ATTENTION_Q = 2800,
    PLM_ATTR_ATTENTION_K = 2801,
    PLM_ATTR_ATTENTION_V = 2802,
};

/* Engines of a convolution are numbered by plan; from here on those that compute single precision without TF32. */
enum { PLM_ENGINE_WITHOUT_TF32 = 64 };

/* Small values live in the attribute itself: a variant pack is made for every execution. */
enum { PLM_BACKEND_INLINE = 64, PLM_BACKEND_FIRST = 4 };

struct plm_backend_attribute {
    int name, type;
    int64_t count;
    void *heap; /* the bytes, if they do not fit */
    _Alignas(8) unsigned char small[PLM_BACKEND_INLINE];
};

struct plm_backend {
    int kind;
    bool finalized;
    atomic_int references;
    int count, capacity;
    struct plm_backend_attribute *attributes; /* `first` until it is full */
    struct plm_backend_attribute first[PLM_BACKEND_FIRST];
};

struct plm_backend *plm_backend_new(int kind);
void plm_backend_release(struct plm_backend *descriptor);

/* Bytes of one element of an attribute type. */
size_t plm_backend_element(int type);

/* Replaces the attribute; the descriptors among its elements are retained. 0 or a status. */
int plm_backend_set(struct plm_backend *descriptor, int name, int type, int64_t count, const void *elements);
const struct plm_backend_attribute *plm_backend_find(const struct plm_backend *descriptor, int name);
const void *plm_backend_data(const struct plm_backend_attribute *attribute);

/* The first descriptor of an attribute, or NULL. The attribute keeps its reference. */
struct plm_backend *plm_backend_child(const struct plm_backend *descriptor, int name);

/* Makes `target`, of the same kind, equal to `source`. 0 or a status. */
int plm_backend_copy(struct plm_backend *target, const struct plm_backend *source);

/* What cuDNN derives when a descriptor is finished becomes ordinary attributes (backend_derive.c). */
int plm_backend_derive(struct plm_backend *descriptor);

/* Integers of an attribute; returns their number, 0 if there are none or more than `most`. */
int plm_backend_integers(const struct plm_backend *descriptor, int name, int64_t *out, int most);
/* An operation of a graph; NULL behind the last. */
const struct plm_backend *plm_backend_operation(const struct plm_backend *graph, int64_t index);

/* The graph's convolution, whatever is fused to it; false if it has none (backend_conv.c). */
struct plm_conv_shape;
bool plm_backend_graph_convolution(const struct plm_backend *graph, struct plm_conv_shape *shape);
/* The workspace of its best plan; 0 if it has none. */
uint64_t plm_backend_graph_workspace(const struct plm_backend *graph);
/* The convolution of a finished plan, with what the plan says: whether it may use TF32. */
bool plm_backend_plan_convolution(const struct plm_backend *plan, struct plm_conv_shape *shape);
/* True if another plan of the same convolution is known to be faster: it takes the time of two launches. */
bool plm_backend_plan_slower(const struct plm_backend *plan);

/* Records what a plan does (backend_call.c). */
void plm_backend_call(const struct plm_backend *plan, const struct plm_backend *pack, struct plm_stream *stream,
                      bool run);

#endif
