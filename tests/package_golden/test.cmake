# cmake -DPACKAGE=... -DSAMPLES=... -DBUILD=... -DGENERATOR=... -P test.cmake
# Configures this project on jobs made from the samples, runs its tests and checks what ctest says of them.
set(source ${BUILD}/source)
set(jobs ${source}/jobs)
set(build ${BUILD}/build)

function(run output_variable)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  set(${output_variable} "${output}" PARENT_SCOPE)
  set(code "${code}" PARENT_SCOPE)
endfunction()

function(run_well)
  run(output ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${code}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect what text pattern)
  if(NOT text MATCHES "${pattern}")
    message(SEND_ERROR "${what}: no match of\n${pattern}\nin\n${text}")
  endif()
endfunction()

# add_job(ID SAMPLE [FROM TO]...): a copy of a sample, with texts of its op.json replaced.
function(add_job id sample)
  file(COPY ${SAMPLES}/${sample}/ DESTINATION "${jobs}/${id}")
  file(READ "${jobs}/${id}/op.json" text)
  while(ARGN)
    list(POP_FRONT ARGN from to)
    string(FIND "${text}" "${from}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "the sample ${sample} has no ${from}")
    endif()
    string(REPLACE "${from}" "${to}" text "${text}")
  endwhile()
  file(WRITE "${jobs}/${id}/op.json" "${text}")
endfunction()

file(REMOVE_RECURSE ${BUILD})
file(MAKE_DIRECTORY ${jobs})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt DESTINATION ${source})
foreach(sample IN ITEMS lp_pooling padding reverse_subsequences slice1)
  add_job(passes/${sample} ${sample})
endforeach()
add_job(fails/padding padding [["PaddingValue": 9]] [["PaddingValue": 8]])
add_job(skipped/padding1 padding DML_OPERATOR_PADDING DML_OPERATOR_PADDING1)
file(WRITE ${jobs}/skipped/padding1/job.json [[{"skip": "not today", "tags": []}]])
file(WRITE ${jobs}/passes/slice1/job.json [[{"tags": ["slow", "layout"]}]])
file(COPY ${SAMPLES}/graph ${SAMPLES}/convolutional_network ${SAMPLES}/onnx DESTINATION ${jobs}/passes)
# A model without data is no job.
file(COPY ${SAMPLES}/onnx/model.onnx DESTINATION ${jobs}/no_job)
# Ids that are no good as patterns: read as one, this would match the next two.
add_job("odd] [1] *?" slice1)
add_job("odd] 1 x" slice1 DML_OPERATOR_SLICE1 SLICE1)
add_job("odd] 1 xy" slice1)
# Not JSON proper, and types that are none.
add_job(with/comments padding
  [[  "type"]] [[  // "type": "LP_POOLING",
  /* "type": "SLICE1" **/ "$schema": "https://example.org/a,}",
  "type"]]
  [["InputTensor.npy"]] [["InputTensor.npy",]])

run_well(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PACKAGE})
run_well(${CMAKE_CTEST_COMMAND} --test-dir ${build} --print-labels)
string(REGEX MATCHALL "\n  [^\n]+" labels "${output}")
expect("the labels" "${labels}"
  "^\n  LP_POOLING;\n  PADDING;\n  PADDING1;\n  REVERSE_SUBSEQUENCES;\n  SLICE1;\n  layout;\n  slow$")
foreach(row IN ITEMS LP_POOLING=1 PADDING=3 SLICE1=4 PADDING1=1 slow=1 layout=1)
  string(REPLACE "=" ";" row ${row})
  list(POP_FRONT row label count)
  run_well(${CMAKE_CTEST_COMMAND} --test-dir ${build} -N -L "^${label}$")
  expect("the tests with the label ${label}" "${output}" "Total Tests: ${count}\n")
endforeach()

set(all_tests "tests=\"13\"[ \t\n]*")
set(one_skipped "[ \t\n]*disabled=\"0\"[ \t\n]*skipped=\"1\"")
run(output ${CMAKE_CTEST_COMMAND} --test-dir ${build} -V --output-junit ${BUILD}/junit.xml)
if(NOT code EQUAL 8)
  message(SEND_ERROR "ctest ends with ${code}, must be 8: a test fails")
endif()
file(READ ${BUILD}/junit.xml junit)
expect("the counts" "${junit}" "${all_tests}failures=\"1\"${one_skipped}")
expect("the summary" "${output}"
  "The following tests did not run:[^\n]*\n[^\n]*golden/skipped/padding1 \\(Skipped\\)")
expect("the summary" "${output}"
  "The following tests FAILED:\n[^\n]*golden/fails/padding \\(Failed\\)\n")
expect("the failing test" "${output}" "FAILED fails/padding: OutputTensor: ")
string(REGEX MATCHALL ": 1 job in " single "${output}")
list(LENGTH single single)
if(NOT single EQUAL 13)
  message(SEND_ERROR "${single} tests run exactly one job, must be 13\n${output}")
endif()

# A build notices jobs that come and go, and other tags.
add_job(added padding)
file(WRITE ${jobs}/passes/slice1/job.json [[{"tags": ["quick"]}]])
file(REMOVE_RECURSE ${jobs}/fails)
run_well(${CMAKE_COMMAND} --build ${build})
run_well(${CMAKE_CTEST_COMMAND} --test-dir ${build} -N -L "^quick$")
expect("the tests with a new tag" "${output}" "Total Tests: 1\n")
run_well(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-junit ${BUILD}/junit.xml)
file(READ ${BUILD}/junit.xml junit)
expect("the counts later" "${junit}" "${all_tests}failures=\"0\"${one_skipped}")
expect("the added test" "${junit}" "name=\"golden/added\"[^>]*status=\"run\"")

# samples/ci: the same with the project that people copy.
file(COPY ${SAMPLES}/ci/CMakeLists.txt DESTINATION ${BUILD}/ci)
file(COPY ${SAMPLES}/padding ${SAMPLES}/top_k1 DESTINATION ${BUILD}/ci/cases)
run_well(${CMAKE_COMMAND} -S ${BUILD}/ci -B ${BUILD}/ci/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PACKAGE})
run_well(${CMAKE_CTEST_COMMAND} --test-dir ${BUILD}/ci/build)
expect("samples/ci" "${output}" "golden/padding .*golden/top_k1 .*100% tests passed, 0 tests failed out of 2")
