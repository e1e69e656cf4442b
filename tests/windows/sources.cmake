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
# The other system runs what has nothing of the system in it and takes minutes: sweeps over descriptions, layouts and
# sizes of ONNX models, the readers of C++ and of debuggers' texts, and the inputs that once broke a reader.
list(FILTER test_sources EXCLUDE REGEX "/tests/(cpp|fuzz)/|/onnx_(axes|fields|sizes|uses)_test\\.cpp$")
list(FILTER test_sources EXCLUDE REGEX "/(type_matrix|rule_refusal|fixes|differences|golden_descriptions|stored_layouts)_test\\.cpp$")
