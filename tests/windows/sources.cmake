# Selects the test files for the Windows program: all except those that start processes or call POSIX or Vulkan.
# Tests of the command line run on the machine that builds, with dmlop.exe as their program (tests.cmake).
foreach(source IN LISTS test_sources)
  file(STRINGS ${source} posix REGEX "#include (\"program\\.hpp\"|\"(batch|fault|graph_folder|hostile|records)\\.hpp\"|<unistd\\.h>|<sys/|<signal\\.h>|<volk\\.h>)")
  if(posix AND NOT source MATCHES "/end_of_page\\.cpp$")  # it has both halves
    list(REMOVE_ITEM test_sources ${source})
  endif()
endforeach()
# Only Vulkan has cooperative matrices. The sweep over C++ has nothing of the system in it and would cost seconds.
list(FILTER test_sources EXCLUDE REGEX "/(vulkan_[a-z]+|(product|attention)_matrices|cpp_sweep)_test\\.cpp$")
