# What Windows' ctest has beside the files' own entries. Run by build.sh test-windows, inside
# windows/in_wine.sh, next to a build of this system in DMLOP_NATIVE_BUILD.
set(DMLOP_NATIVE_BUILD ${PROJECT_SOURCE_DIR}/build CACHE PATH
  "A build of this version for the machine that builds, with its tests")
set(wrapper ${CMAKE_BINARY_DIR}/wine/dmlop)  # starts dmlop.exe in Wine

# The command line's tests, those of the other system, on dmlop.exe.
set(program_tests batch batch_manifest batch_reports batch_resume batch_scale cli cli_streams completion
  confine golden gpu help job limits model_convert model_program picture schema security text tolerance verbatim)
# Left out is what cannot be asked of a Windows program from outside of Windows:
set(left_out
  # absolute paths without a drive
  "model program: run prints and writes as DxDispatch*"
  # POSIX signals to the Linux process that hosts it
  "an interrupted run leaves nothing" "a program that waits for its input can be interrupted"
  "a program whose output is not read can be interrupted"
  # devices of /dev, pipes with names and terminals of Linux, and links to nothing
  "model program: several outputs may go to one device" "files of jobs that are links to nothing*"
  "what cannot take an output is refused*"
  "a device that is full*" "colors and a progress line*" "a terminal has a progress line*"
  # file names that Windows cannot have
  "JUnit: ids and paths that are no UTF-8*"
  # how Vulkan is missing, and Vulkan's cache
  "gpu: without a loader*" "gpu: the pipeline cache*" "gpu: processes at the same time leave a sound cache"
  # a closed pipe that is told from other failures
  "a reader that has read enough needs no message"
  # the limit on file sizes of a Linux shell
  "gpu: a full disk*"
  # and its limit on memory
  "a line that is too long is read over*"
  # sweeps that start the program hundreds of times, and have nothing of the system in them
  "records: a field of another type*" "security: findings show no text*" "ops lists the operators and shows one"
  "limits: what a check costs*")
list(JOIN left_out "," left_out)
string(REPLACE "," "\\," commas "${left_out}")
foreach(name IN LISTS program_tests)
  add_test(NAME program_${name} COMMAND ${DMLOP_NATIVE_BUILD}/dmlop_tests
    --source-file=*/${name}_test.cpp "--test-case-exclude=${left_out}")
  set_tests_properties(program_${name} PROPERTIES
    LABELS program ENVIRONMENT "DMLOP_TEST_PROGRAM=${wrapper}" TIMEOUT 1200)
endforeach()

# Direct3D's own: what is missing, what is kept, the bytes of all builds and backends side by side.
foreach(name IN ITEMS direct3d same_bytes)
  add_test(NAME ${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/windows/${name}_test.sh
    ${wrapper} ${DMLOP_NATIVE_BUILD}/dmlop ${PROJECT_SOURCE_DIR}/samples ${conformance})
  set_tests_properties(${name} PROPERTIES LABELS windows)
endforeach()
# It removes and damages the cache of shaders, which all programs of this Wine share.
set_tests_properties(direct3d PROPERTIES RUN_SERIAL ON)

# The wheel for Windows. There is no Python for Wine, so that its contents are read.
if(TARGET wheel)
  add_dependencies(dmlop_tests wheel)
  add_test(NAME windows_wheel COMMAND ${DMLOP_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel_contents.py
    ${PROJECT_BINARY_DIR}/wheel)
  set_tests_properties(windows_wheel PROPERTIES LABELS windows)
endif()
include(${CMAKE_CURRENT_SOURCE_DIR}/windows/layer.cmake)
