/* Pads a matrix with dmlop's C interface: checks an operation, runs it once, then prepares it and
 * runs it on buffers of its own. It prints the result and what is wrong with a mistake. */
#include <dmlop/dmlop.h>
#include <stdio.h>

static int report(dmlop_error* error) {
  fprintf(stderr, "%s\n", dmlop_error_message(error));
  dmlop_error_free(error);
  return 1;
}

static void print(const float* elements, uint64_t rows, uint64_t columns) {
  for (uint64_t i = 0; i < rows * columns; ++i)
    printf("%g%s", elements[i], (i + 1) % columns == 0 ? "\n" : " ");
}

int main(void) {
  dmlop_context* context = NULL;
  dmlop_error* error = NULL;
  dmlop_context_options options = DMLOP_CONTEXT_OPTIONS;
  options.device = "cpu";
  if (dmlop_open(&options, &context, &error) != DMLOP_DONE) return report(error);

  dmlop_operation padding = DMLOP_OPERATION;
  padding.text =
      "{\"type\": \"PADDING\", \"desc\": {\"PaddingMode\": \"EDGE\","
      " \"StartPadding\": [0, 1], \"EndPadding\": [1, 0]}}";
  float matrix[] = {1, 2, 3, 4};
  const uint64_t sizes[] = {2, 2};
  dmlop_tensor input = {.name = "InputTensor",
                        .data = matrix,
                        .bytes = sizeof matrix,
                        .sizes = sizes,
                        .rank = 2,
                        .type = DMLOP_FLOAT32};

  dmlop_result* result = NULL;
  if (dmlop_run(context, &padding, &input, 1, NULL, 0, NULL, &result, &error) != DMLOP_DONE)
    return report(error);
  const dmlop_tensor* output = dmlop_result_outputs(result).items;
  printf("%s:\n", output->name);
  print(output->data, output->sizes[0], output->sizes[1]);
  dmlop_result_free(result);

  /* Prepared, it runs many times; each run gets the elements. */
  input.data = NULL;
  input.bytes = 0;
  dmlop_prepared* prepared = NULL;
  if (dmlop_prepare(context, &padding, &input, 1, &prepared, &error) != DMLOP_DONE)
    return report(error);
  float padded[9];
  for (int run = 0; run < 2; ++run) {
    const void* from = matrix;
    void* to = padded;
    matrix[0] = 10.0F * (float)(run + 1);
    if (dmlop_prepared_run(prepared, &from, &to, NULL, &error) != DMLOP_DONE) return report(error);
    printf("run %d:\n", run + 1);
    print(padded, 3, 3);
  }
  dmlop_prepared_free(prepared);
  dmlop_close(context);

  padding.text = "{\"type\": \"PADING\", \"desc\": {}}";
  if (dmlop_check(&padding, NULL, 0, NULL, &error) == DMLOP_DONE) return 1;
  printf("a mistake:\n%s\n", dmlop_error_message(error));
  dmlop_error_free(error);
  return 0;
}
