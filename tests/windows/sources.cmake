# Selects the test files for the Windows program: all except those that start processes or call POSIX or Vulkan.
# Tests of the command line run on the machine that builds, with dmlop.exe as their program (tests.cmake).
foreach(source IN LISTS test_sources)
  file(STRINGS ${source} posix REGEX "#include (\"program\\.hpp\"|\"(batch|fault|graph_folder|hostile|records)\\.hpp\"|<unistd\\.h>|<sys/|<signal\\.h>|<volk\\.h>)")
  if(posix AND NOT source MATCHES "/end_of_page\\.cpp$")  # it has both halves
    list(REMOVE_ITEM test_sources ${source})
  endif()
endforeach()
# Only Vulkan has cooperative matrices.
list(FILTER test_sources EXCLUDE REGEX "/vulkan_[a-z]+_test\\.cpp$|/(product|attention)_matrices_test\\.cpp$")
# In Wine, what has nothing of the system in it is left out: the same compiler builds it for the other system, which runs
# it. These are rules and their messages, comparisons, nodes of ONNX models, damaged graphs, the readers of C++ and of
# debuggers' texts, and the parts of kernels. Stored cases run every kernel (golden_cases, conformance), and ONNX's own
# tests every node (onnx_node, onnx_graph).
if(is_in_wine)
  list(FILTER test_sources EXCLUDE REGEX "/tests/(compare|cpp|fuzz|refusals|spec)/|/graph_bytes_test\\.cpp$")
  set(onnx_tests ${test_sources})
  list(FILTER onnx_tests INCLUDE REGEX "/tests/onnx/")
  list(FILTER onnx_tests EXCLUDE REGEX "/onnx_(node|graph)_test\\.cpp$")
  list(REMOVE_ITEM test_sources ${onnx_tests})
  set(kernel_tests ${test_sources})
  list(FILTER kernel_tests INCLUDE REGEX "/tests/kernels/")
  list(FILTER kernel_tests EXCLUDE REGEX "/(cpu_kernels|threads)_test\\.cpp$")
  list(REMOVE_ITEM test_sources ${kernel_tests})
endif()
