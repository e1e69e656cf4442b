/* dmlop for C, and for all languages that can call C: checks descriptions of DirectML operators and
 * graphs of them, and runs them on the CPU or on a GPU. This is the whole interface, and it is
 * stable: what works with this version works with later ones.
 *
 *   dmlop_context* context = NULL;
 *   dmlop_error* error = NULL;
 *   if (dmlop_open(NULL, &context, &error) != DMLOP_DONE) puts(dmlop_error_message(error));
 *
 * samples/c/pad.c runs an operator.
 *
 * Text is UTF-8 and ends with a 0. Sizes and strides count elements; the last dimension is the
 * fastest. Pointers that a call gets need to live until it returns, unless it says otherwise. The
 * functions print nothing and change no setting of the process. Different threads may call them at
 * the same time, also with the same context, prepared operation or program. Handles do not depend
 * on each other: a context may be closed while something that was made with it is still used.
 *
 * A struct that may get more members begins with struct_size, which says which version of it the
 * caller knows. Initialize it with its macro: dmlop_operation operation = DMLOP_OPERATION; */
#ifndef DMLOP_H
#define DMLOP_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(DMLOP_C_SHARED)
#define DMLOP_C_API __declspec(dllimport)
#elif defined(_WIN32)
#define DMLOP_C_API
#else
#define DMLOP_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. Later versions may have more. The numbers are the program's exit codes. */
typedef enum dmlop_status {
  DMLOP_DONE = 0,
  DMLOP_DIFFERENT = 1,     /* dmlop_compare: some element is too far from the expected one */
  DMLOP_USAGE = 2,         /* the call is wrong: unknown names, missing inputs, null pointers */
  DMLOP_INVALID = 3,       /* the JSON, the description, a buffer or a file is wrong */
  DMLOP_UNAVAILABLE = 4,   /* valid, but not possible here: no such device */
  DMLOP_RUN_FAILED = 5,    /* the device or the computation failed */
  DMLOP_IO_FAILED = 6,     /* a file could not be read or written */
  DMLOP_OUT_OF_MEMORY = 7, /* there is no memory for the call itself */
  DMLOP_CANCELED = 130     /* should_stop ended it */
} dmlop_status;

/* The type of a tensor's elements: the values of DML_TENSOR_DATA_TYPE. UINT4 and INT4 take a whole
 * byte. */
typedef enum dmlop_type {
  DMLOP_FLOAT32 = 1,
  DMLOP_FLOAT16 = 2,
  DMLOP_UINT32 = 3,
  DMLOP_UINT16 = 4,
  DMLOP_UINT8 = 5,
  DMLOP_INT32 = 6,
  DMLOP_INT16 = 7,
  DMLOP_INT8 = 8,
  DMLOP_FLOAT64 = 9,
  DMLOP_UINT64 = 10,
  DMLOP_INT64 = 11,
  DMLOP_UINT4 = 12,
  DMLOP_INT4 = 13
} dmlop_type;

/* What went wrong. A call that fails stores one in its last argument, unless that is NULL. The
 * caller frees it. */
typedef struct dmlop_error dmlop_error;
DMLOP_C_API dmlop_status dmlop_error_status(const dmlop_error* error);
/* All of it as text, as the program prints it. */
DMLOP_C_API const char* dmlop_error_message(const dmlop_error* error);
/* The mistakes as a JSON array of objects with message, rule, help, note, file, line, column,
 * pointer and text; parts that do not apply are missing. [] for failures of other kinds. */
DMLOP_C_API const char* dmlop_error_findings(const dmlop_error* error);
DMLOP_C_API void dmlop_error_free(dmlop_error* error);

/* Frees a text that a call stored in a char*. */
DMLOP_C_API void dmlop_text_free(char* text);

/* The library's version, MAJOR.MINOR.PATCH. */
DMLOP_C_API const char* dmlop_version(void);
/* The number of the newest function of this header that the library has. It grows; this header is
 * 1. */
#define DMLOP_INTERFACE 1
DMLOP_C_API uint32_t dmlop_interface(void);

/* A tensor, or in a list what one has to be. This struct will not change. */
typedef struct dmlop_tensor {
  const char* name;        /* of an operator's field: "InputTensor", "InputTensors[1]" */
  const char* path;        /* the .npy file that has the elements, or NULL; then only name counts */
  void* data;              /* the elements, in native byte order; NULL in a list */
  uint64_t bytes;          /* that data has */
  const uint64_t* sizes;   /* rank of them */
  const uint64_t* strides; /* rank of them, or NULL: the elements are packed */
  uint32_t rank;
  uint32_t type; /* dmlop_type */
} dmlop_tensor;

/* A list that belongs to the handle that it comes from. */
typedef struct dmlop_tensors {
  const dmlop_tensor* items;
  size_t count;
} dmlop_tensors;

/* One use of an operator as JSON, {"type": "PADDING", "desc": {...}}, or a program: a graph that
 * ONNX Runtime serialized (Partition_N.bin), a graph as JSON, an ONNX model (a file *.onnx), or a
 * DxDispatch model. */
typedef struct dmlop_operation {
  size_t struct_size;
  /* The JSON, or the bytes of a serialized graph or an ONNX model; NULL: the contents of file. */
  const char* text;
  size_t text_size; /* 0: text ends with a 0 */
  const char* file; /* names the text; paths in it are relative to this file. May be NULL */
  const char* feature_level; /* "5_0"; NULL: that of the JSON, or the newest */
  const char* as;            /* the judge: "page", "directml-1.15.4"; NULL: the JSON */
  const char* confined_to;   /* the folder that paths in the JSON may not leave; NULL: any */
  const char* dimensions;    /* of an ONNX model, by name: "batch=2,length=8"; may be NULL */
  /* Of an ONNX model: inputs that become constants, because sizes or fields of its operators depend
   * on their elements. They are no inputs of the program then. May be NULL. */
  const dmlop_tensor* known_inputs;
  size_t known_input_count;
  /* Of an ONNX model, 1: fewer operators are made of it, as ONNX Runtime's optimizer does.
   * Activations, batch normalizations, sums and factors become part of the operators before them.
   * It runs faster, and rounds less. */
  uint32_t fuse;
} dmlop_operation;
#define DMLOP_OPERATION \
  { sizeof(dmlop_operation), NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/* What a call that may take long gets. NULL stands for DMLOP_CALL. */
typedef struct dmlop_call {
  size_t struct_size;
  /* If this returns another number than 0, the call ends soon, with DMLOP_CANCELED. It is called
   * every few milliseconds, on the thread of the call. NULL: nothing stops it. */
  int (*should_stop)(void* user);
  void* user;          /* for should_stop */
  uint32_t keep_edges; /* dmlop_program_run: 1 to get what each node wrote */
} dmlop_call;
#define DMLOP_CALL \
  { sizeof(dmlop_call), NULL, NULL, 0 }

/* Checks an operation, and that the inputs fit it, or a program. Inputs need no elements. The
 * mistakes are in the error. `report`, if it is not NULL, gets JSON about what is valid:
 * {"tensors": [{"name", "dataType", "sizes"}], "warnings": [...]}. */
DMLOP_C_API dmlop_status dmlop_check(const dmlop_operation* operation, const dmlop_tensor* inputs,
                                     size_t input_count, char** report, dmlop_error** error);

/* Where operations run. */
typedef struct dmlop_context dmlop_context;

typedef struct dmlop_context_options {
  size_t struct_size;
  const char* device;      /* as `dmlop run --device`: "cpu", "gpu", "vulkan:0"; NULL: the best */
  uint32_t threads;        /* of the CPU; 0: as many as it has */
  uint32_t strict_indices; /* 1: an index out of range in an input is a failure */
  uint64_t device_memory_bytes; /* limit for buffers on the GPU; 0: a sensible amount */
  uint64_t host_memory_bytes;   /* limit for temporary tensors on the CPU; 0: none */
} dmlop_context_options;
#define DMLOP_CONTEXT_OPTIONS \
  { sizeof(dmlop_context_options), NULL, 0, 0, 0, 0 }

/* NULL stands for DMLOP_CONTEXT_OPTIONS. */
DMLOP_C_API dmlop_status dmlop_open(const dmlop_context_options* options, dmlop_context** context,
                                    dmlop_error** error);
/* "cpu", or the GPU's spec such as "vulkan:0". */
DMLOP_C_API const char* dmlop_context_device(const dmlop_context* context);
DMLOP_C_API void dmlop_close(dmlop_context* context);

/* Tensors that a call computed. They live until the result is freed. */
typedef struct dmlop_result dmlop_result;
DMLOP_C_API dmlop_tensors dmlop_result_outputs(const dmlop_result* result);
/* What each node of a program wrote, named after its edge, with keep_edges. */
DMLOP_C_API dmlop_tensors dmlop_result_edges(const dmlop_result* result);
DMLOP_C_API void dmlop_result_free(dmlop_result* result);

/* Checks and runs an operation. An output that is in `outputs` is written there: packed elements,
 * in as many bytes as they have. Only its name, data and bytes need to be set. A type (not 0),
 * sizes and strides (not NULL) that are set must be those of the packed output, and path must be
 * NULL. Memory is made for the others. `result`, which may be NULL if all outputs are given, gets
 * all of them in the order of the operator's fields. If the call fails, given outputs have any
 * contents. */
DMLOP_C_API dmlop_status dmlop_run(dmlop_context* context, const dmlop_operation* operation,
                                   const dmlop_tensor* inputs, size_t input_count,
                                   const dmlop_tensor* outputs, size_t output_count,
                                   const dmlop_call* call, dmlop_result** result,
                                   dmlop_error** error);

/* An operation that was checked and planned once, to run many times on buffers of the caller. */
typedef struct dmlop_prepared dmlop_prepared;
/* Inputs with elements, and those that are files, stay what they are; their memory has to live as
 * long as the prepared operation. Those without elements (data NULL, bytes 0) are given to each
 * run; so are those that only the JSON describes. */
DMLOP_C_API dmlop_status dmlop_prepare(dmlop_context* context, const dmlop_operation* operation,
                                       const dmlop_tensor* inputs, size_t input_count,
                                       dmlop_prepared** prepared, dmlop_error** error);
/* What each run needs and computes, in the order of the operator's fields. */
DMLOP_C_API dmlop_tensors dmlop_prepared_inputs(const dmlop_prepared* prepared);
DMLOP_C_API dmlop_tensors dmlop_prepared_outputs(const dmlop_prepared* prepared);
/* A pointer for each input and each output, with as many bytes as the lists say. An output may be
 * the buffer of an input. */
DMLOP_C_API dmlop_status dmlop_prepared_run(const dmlop_prepared* prepared,
                                            const void* const* inputs, void* const* outputs,
                                            const dmlop_call* call, dmlop_error** error);
DMLOP_C_API void dmlop_prepared_free(dmlop_prepared* prepared);

/* A graph of operators that was read and checked. */
typedef struct dmlop_program dmlop_program;
DMLOP_C_API dmlop_status dmlop_load(const dmlop_operation* source, dmlop_program** program,
                                    dmlop_error** error);
DMLOP_C_API dmlop_tensors dmlop_program_inputs(const dmlop_program* program);
DMLOP_C_API dmlop_tensors dmlop_program_outputs(const dmlop_program* program);
/* JSON: {"nodes": [{"name", "operator", "inputs", "outputs"}], "warnings": [...]}. */
DMLOP_C_API dmlop_status dmlop_program_report(const dmlop_program* program, char** report,
                                              dmlop_error** error);
/* Constants stay on a GPU for the next run, until the program or the context is gone, or other runs
 * need the room. */
DMLOP_C_API dmlop_status dmlop_program_run(dmlop_context* context, const dmlop_program* program,
                                           const dmlop_tensor* inputs, size_t input_count,
                                           const dmlop_call* call, dmlop_result** result,
                                           dmlop_error** error);
DMLOP_C_API void dmlop_program_free(dmlop_program* program);

/* How far an element may be from the expected one. It passes if any criterion allows it:
 * |actual - expected| <= atol + rtol * |expected|, or at most ulp representable values between.
 * Negative numbers stand for a criterion that is not given; without any, elements must be equal bit
 * for bit. */
typedef struct dmlop_criteria {
  size_t struct_size;
  double rtol;
  double atol;
  int64_t ulp;
  uint32_t nan_differs;   /* 1: NaN equals nothing, not even NaN */
  uint32_t allow_trivial; /* 1: a match that proves nothing may pass: all of actual is NaN, or all
                             is zero and expected holds different numbers */
} dmlop_criteria;
#define DMLOP_CRITERIA \
  { sizeof(dmlop_criteria), -1, -1, -1, 0, 0 }

/* Compares two tensors, packed elements or .npy files. DMLOP_DIFFERENT if they differ, which is no
 * error. `report`, if it is not NULL, gets JSON with verdict, summary, text and all numbers. */
DMLOP_C_API dmlop_status dmlop_compare(const dmlop_tensor* actual, const dmlop_tensor* expected,
                                       const dmlop_criteria* criteria, const dmlop_call* call,
                                       char** report, dmlop_error** error);
/* The tolerance of an operator for a type (dmlop_type). */
DMLOP_C_API dmlop_status dmlop_criteria_of(const char* operator_name, uint32_t type,
                                           dmlop_criteria* criteria, dmlop_error** error);

typedef struct dmlop_bench_options {
  size_t struct_size;
  const char* device; /* as in dmlop_context_options */
  uint32_t threads;
  uint32_t min_runs; /* runs go on until this and min_seconds are reached */
  double min_seconds;
} dmlop_bench_options;
#define DMLOP_BENCH_OPTIONS \
  { sizeof(dmlop_bench_options), NULL, 0, 10, 1 }

/* Measures an operation on a device, as `dmlop bench` does. Inputs without elements get random
 * ones. `report` gets JSON with device, clock, medianSeconds, percentile95Seconds, runs, inputBytes
 * and outputBytes. */
DMLOP_C_API dmlop_status dmlop_bench(const dmlop_operation* operation, const dmlop_tensor* inputs,
                                     size_t input_count, const dmlop_bench_options* options,
                                     const dmlop_call* call, char** report, dmlop_error** error);

/* Writes packed elements to a file as numpy.save does. It appears complete or not at all. */
DMLOP_C_API dmlop_status dmlop_write_npy(const char* path, const dmlop_tensor* tensor,
                                         dmlop_error** error);

/* All operators as a JSON array of objects with name, family, featureLevel and runsOn; or, with a
 * name, all that is known about one, as `dmlop ops NAME --format json` prints it. */
DMLOP_C_API dmlop_status dmlop_operators(const char* name, char** json, dmlop_error** error);
/* The operator that the JSON of an operation names, such as "PADDING", whatever else may be wrong
 * there; NULL, and no error, for a program. dmlop_operators tells its inputs. Errors:
 * DMLOP_INVALID, with findings, where no operator can be read; DMLOP_IO_FAILED. */
DMLOP_C_API dmlop_status dmlop_operator_of(const dmlop_operation* operation, char** name,
                                           dmlop_error** error);
/* The CPU and all GPUs as a JSON array of objects with spec, name, kind, driver, memoryBytes. */
DMLOP_C_API dmlop_status dmlop_devices(char** json, dmlop_error** error);

#ifdef __cplusplus
}
#endif

#endif
