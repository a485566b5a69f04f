#include "torch/facts.h"

#include <stddef.h>

#define FUNCTION(since, until, library, name, seen, without) \
    {PLM_TORCH_IS_FUNCTION, false, since, until, library, name, seen, without}
#define LAYOUT(since, until, proved, name, seen, without) \
    {PLM_TORCH_IS_LAYOUT, proved, since, until, NULL, name, seen, without}
#define RULE(since, until, name, seen) {PLM_TORCH_IS_RULE, false, since, until, NULL, name, seen, ""}

#define NO_OPERATORS "operator and module names in the backward pass (operators-unknown)"
#define NO_OPERANDS  "tensor sizes of kernels whose launch does not show them (sizes-unknown)"
#define NO_VALUES    "values that follow from host data (values-unknown)"
#define NO_STREAMS   "the stream of each block"
#define NO_SIZES     "the requested size of each block"

static const struct plm_torch_row rows[PLM_TORCH_FACTS] = {
    [PLM_TORCH_REPORT] = FUNCTION(2001, 0, "libc10.so", PLM_TORCH_REPORT_NAME, "c10/core/Allocator.h", "all blocks"),
    [PLM_TORCH_STREAM_NOW] = FUNCTION(2001, 0, "libc10_cuda.so", "_ZN3c104cuda20getCurrentCUDAStreamEa",
                                      "c10/cuda/CUDAStream.h", NO_STREAMS),
    [PLM_TORCH_STREAM_EXTERNAL] =
        FUNCTION(2001, 0, "libc10_cuda.so", "_ZN3c104cuda21getStreamFromExternalEP11CUstream_sta",
                 "c10/cuda/CUDAStream.h", NO_STREAMS),
    [PLM_TORCH_ALLOCATOR] = FUNCTION(2001, 0, "libc10_cuda.so", "_ZN3c104cuda20CUDACachingAllocator9allocatorE",
                                     "c10/cuda/CUDACachingAllocator.h", NO_SIZES),
    [PLM_TORCH_ALLOCATOR_TABLE] =
        FUNCTION(2003, 0, "libc10.so", "_ZTVN3c109AllocatorE", "c10/core/Allocator.h", NO_SIZES),
    [PLM_TORCH_ALLOCATOR_SIMPLE] =
        FUNCTION(2003, 0, "libc10.so", "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE", "c10/core/Allocator.h",
                 NO_SIZES),
    [PLM_TORCH_OBSERVE] = FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE",
                                   "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_OBSERVE_ENABLE] =
        FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at16reenableCallbackEm", "ATen/record_function.h", NO_OPERANDS),
    [PLM_TORCH_OBSERVE_DISABLE] =
        FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at15disableCallbackEm", "ATen/record_function.h", NO_OPERANDS),
    [PLM_TORCH_FUNCTION_NAME] =
        FUNCTION(2001, 0, "libtorch_cpu.so", "_ZNK2at14RecordFunction4nameEv", "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_OPERATOR_NAME] = FUNCTION(2001, 0, "libtorch_cpu.so", "_ZNK2at14RecordFunction13operator_nameEv",
                                         "ATen/record_function.h", NO_VALUES),
    [PLM_TORCH_FUNCTION_MAKE] = FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at14RecordFunctionC1ENS_11RecordScopeE",
                                         "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_FUNCTION_DROP] =
        FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at14RecordFunctionD1Ev", "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_FUNCTION_BEGIN] = FUNCTION(2008, 0, "libtorch_cpu.so",
                                          "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_"
                                          "traitsIcEESt17reference_wrapperIKN3c1014FunctionSchemaEEEEl",
                                          "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_FUNCTION_BEGIN_TEXT] = FUNCTION(2001, 2007, "libtorch_cpu.so", "_ZN2at14RecordFunction6beforeEPKcl",
                                               "ATen/record_function.h", NO_OPERATORS),
    [PLM_TORCH_SEQUENCE_NEXT] =
        FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at15sequence_number4peekEv", "ATen/SequenceNumber.h", NO_OPERATORS),
    [PLM_TORCH_THREADS] = FUNCTION(2001, 0, "libtorch_cpu.so", "_ZN2at15get_num_threadsEv", "ATen/Parallel.h",
                                   "one thread for values that are computed, which then cost more"),
    [PLM_TORCH_OPERATOR] = {PLM_TORCH_IS_PREFIX, false, 2001, 0, "libtorch_cpu.so", PLM_TORCH_OPERATOR_PREFIX,
                            "ATen/ops/nonzero_ops.h", "the name of the operator that reads a value back"},

    [PLM_TORCH_CALLBACK] = LAYOUT(2001, 2015, false, "at::RecordFunctionCallback: 40 bytes",
                                  "ATen/record_function.h:RecordFunctionCallback", NO_OPERATORS),
    [PLM_TORCH_SEQUENCE] = LAYOUT(2001, 2015, true, "offset of the sequence number in a RecordFunction",
                                  "ATen/record_function.h:RecordFunction", NO_OPERATORS),
    [PLM_TORCH_INPUTS] = LAYOUT(2001, 2015, true, "offset of the inputs in a RecordFunction",
                                "ATen/record_function.h:RecordFunction", NO_OPERANDS),
    [PLM_TORCH_IVALUE] =
        LAYOUT(2001, 2015, true, "c10::IValue: 16 bytes, payload before tag", "ATen/core/ivalue.h:IValue", NO_OPERANDS),
    [PLM_TORCH_LIST] =
        LAYOUT(2001, 2015, true, "offset of the IValues in a list", "ATen/core/List.h:ListImpl", NO_OPERANDS),
    [PLM_TORCH_TENSOR] = LAYOUT(2001, 2015, true, "offsets of sizes, element count and dtype in a tensor",
                                "c10/core/TensorImpl.h:TensorImpl", NO_OPERANDS),
    [PLM_TORCH_STORAGE] = LAYOUT(2001, 2015, true, "offsets of a tensor's storage and of the storage's memory",
                                 "c10/core/StorageImpl.h:StorageImpl", NO_VALUES),
    [PLM_TORCH_OUTPUTS] = LAYOUT(2001, 2015, true, "offset of the outputs in a RecordFunction",
                                 "ATen/record_function.h:RecordFunction", NO_VALUES),
    [PLM_TORCH_STREAM] = LAYOUT(2001, 2015, true, "c10::cuda::CUDAStream: device and stream id, in two registers",
                                "c10/core/Stream.h:Stream", NO_STREAMS),
    [PLM_TORCH_ALLOCATE] = LAYOUT(2001, 2015, true, "c10::Allocator::allocate: the vtable entry after both destructors",
                                  "c10/core/Allocator.h:Allocator", NO_SIZES),

    [PLM_TORCH_BY_AGE] =
        RULE(2013, 0, "among free blocks of equal size, the one in the oldest segment is used", "#183591"),
    [PLM_TORCH_TRIMS] = RULE(2014, 0, "on a full GPU, cudaMallocAsync trims the pool and retries once",
                             "a warning in logs of 2.14; conformance of 2.15"),
    [PLM_TORCH_WHOLE_IS_LIMIT] = RULE(2006, 2009, "a memory fraction of 1 acts as a limit", "conformance of 2.6, 2.10"),
    [PLM_TORCH_SPLIT_ABOVE] =
        RULE(2006, 2009, "max_split_size_mb must exceed 20, the size of a large segment", "conformance of 2.6, 2.10"),
    [PLM_TORCH_ROUNDUP_OVERWRITES] =
        RULE(2006, 2009, "roundup_power2_divisions:[..,>:N] overwrites the last interval of the list",
             "conformance of 2.6, 2.10"),
    [PLM_TORCH_VARIABLE] = RULE(2010, 0, "PYTORCH_ALLOC_CONF", "c10/core/AllocatorConfig.h"),
    [PLM_TORCH_TRACE_COMPILE] = RULE(2010, 0, "compile_context", "snapshots of 2.10"),
    [PLM_TORCH_TRACE_POOL] = RULE(2015, 0, "pool_id", "snapshots of 2.15"),
};

const struct plm_torch_row *plm_torch_row(enum plm_torch_fact fact)
{
    return &rows[fact];
}

bool plm_torch_holds(enum plm_torch_fact fact, unsigned release)
{
    return release && release >= rows[fact].since && (!rows[fact].until || release <= rows[fact].until);
}

bool plm_torch_rule(enum plm_torch torch, enum plm_torch_fact rule)
{
    return plm_torch_holds(rule, plm_torch_stands_for(torch));
}
