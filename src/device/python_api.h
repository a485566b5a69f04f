/*
 * Functions of Python's C API that the device calls: only of the stable part, and found at run time, so that the library
 * needs no Python to build or load. They are called with Python's lock held, except `lock` itself.
 */
#ifndef PLM_DEVICE_PYTHON_API_H
#define PLM_DEVICE_PYTHON_API_H

#include <stdbool.h>
#include <stdint.h>

struct plm_object; /* PyObject */

typedef struct plm_object *plm_fast_function(struct plm_object *self, struct plm_object *const *arguments,
                                             intptr_t count);

struct plm_python_method { /* PyMethodDef */
    const char *name;
    plm_fast_function *function;
    int flags; /* METH_… */
    const char *doc;
};

/* ROW(what it returns, its name here, its arguments, its name in Python) */
#define PLM_PYTHON_FUNCTIONS(ROW)                                                                                  \
    ROW(int, lock, (void), PyGILState_Ensure)                                                                      \
    ROW(void, unlock, (int), PyGILState_Release)                                                                   \
    ROW(void, error_clear, (void), PyErr_Clear)                                                                    \
    ROW(void, error_keep, (struct plm_object **, struct plm_object **, struct plm_object **), PyErr_Fetch)         \
    ROW(void, error_restore, (struct plm_object *, struct plm_object *, struct plm_object *), PyErr_Restore)       \
    ROW(void, keep, (struct plm_object *), Py_IncRef)                                                              \
    ROW(void, drop, (struct plm_object *), Py_DecRef)                                                              \
    ROW(struct plm_object *, call, (struct plm_object *, struct plm_object *), PyObject_CallObject)                \
    ROW(int, is_true, (struct plm_object *), PyObject_IsTrue)                                                      \
    ROW(struct plm_object *, new_function, (struct plm_python_method *, struct plm_object *, struct plm_object *), \
        PyCFunction_NewEx)                                                                                         \
    ROW(struct plm_object *, new_tuple, (intptr_t), PyTuple_New)                                                   \
    ROW(int, tuple_set, (struct plm_object *, intptr_t, struct plm_object *), PyTuple_SetItem)                     \
    ROW(struct plm_object *, tuple_item, (struct plm_object *, intptr_t), PyTuple_GetItem)                         \
    ROW(intptr_t, tuple_size, (struct plm_object *), PyTuple_Size)                                                 \
    ROW(struct plm_object *, new_list, (intptr_t), PyList_New)                                                     \
    ROW(int, list_set, (struct plm_object *, intptr_t, struct plm_object *), PyList_SetItem)                       \
    ROW(struct plm_object *, new_int, (long long), PyLong_FromLongLong)                                            \
    ROW(struct plm_object *, new_number, (unsigned long long), PyLong_FromUnsignedLongLong)                        \
    ROW(long long, as_int, (struct plm_object *), PyLong_AsLongLong)                                               \
    ROW(unsigned long long, as_number, (struct plm_object *), PyLong_AsUnsignedLongLongMask)                       \
    ROW(struct plm_object *, new_double, (double), PyFloat_FromDouble)                                             \
    ROW(struct plm_object *, new_bool, (long), PyBool_FromLong)                                                    \
    ROW(struct plm_object *, new_text, (const char *), PyUnicode_FromString)                                       \
    ROW(struct plm_object *, new_memory, (char *, intptr_t, int), PyMemoryView_FromMemory)                         \
    ROW(struct plm_object *, new_bytes, (const char *, intptr_t), PyBytes_FromStringAndSize)                       \
    ROW(char *, bytes, (struct plm_object *), PyBytes_AsString)                                                    \
    ROW(int, bytes_of, (struct plm_object *, char **, intptr_t *), PyBytes_AsStringAndSize)

#define PLM_PYTHON_SLOT(type, name, arguments, symbol) type(*name) arguments;
struct plm_python {
    PLM_PYTHON_FUNCTIONS(PLM_PYTHON_SLOT)
    struct plm_object *none;
};
#undef PLM_PYTHON_SLOT

/* Filled by plm_python_find; nobody calls them before that. */
extern struct plm_python plm_python;

/* False: this Python lacks one of them. Repeating it is cheap enough for start-up. */
bool plm_python_find(void);

/* None, as a reference that is given away. */
struct plm_object *plm_python_none(void);

#endif
