# dmlop_add_golden_tests(DIRECTORY [PREFIX prefix] [DEVICE device])
#
# Adds a test for each op.json, model.json, graph.json and Partition_N.bin below DIRECTORY, and for each model.onnx with
# a test_data_set_0 beside it. The test runs the job and compares its output with the golden file beside it. Its name is
# PREFIX (empty by default) followed by the id that `dmlop batch` gives the job, which is its folder below DIRECTORY. Its
# labels are the operator of an op.json and the tags of its job.json. The test is skipped if the job is SKIPPED or
# UNSUPPORTED on DEVICE (cpu by default). The next build notices descriptions that were added or removed, and job.json
# files that changed.
cmake_policy(PUSH)
cmake_policy(VERSION 3.24)

function(dmlop_add_golden_tests directory)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;DEVICE" "")
  if(DEFINED arg_UNPARSED_ARGUMENTS OR DEFINED arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "dmlop_add_golden_tests takes DIRECTORY [PREFIX prefix] [DEVICE device]; wrong: "
      "${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT DEFINED arg_DEVICE)
    set(arg_DEVICE cpu)
  endif()
  get_filename_component(directory "${directory}" ABSOLUTE)

  _dmlop_literal_pattern("${directory}" pattern)
  file(GLOB_RECURSE files FOLLOW_SYMLINKS LIST_DIRECTORIES false CONFIGURE_DEPENDS
    "${pattern}/op.json" "${pattern}/model.json" "${pattern}/graph.json" "${pattern}/Partition_*.bin"
    "${pattern}/model.onnx")
  # CMake does not split a list inside brackets, so they are replaced for a moment.
  string(ASCII 1 opening)
  string(ASCII 2 closing)
  string(REPLACE "[" "${opening}" files "${files}")
  string(REPLACE "]" "${closing}" files "${files}")
  foreach(file IN LISTS files)
    string(REPLACE "${opening}" "[" file "${file}")
    string(REPLACE "${closing}" "]" file "${file}")
    get_filename_component(folder "${file}" DIRECTORY)
    get_filename_component(description "${file}" NAME)
    _dmlop_descriptions("${folder}" descriptions)
    if(NOT description IN_LIST descriptions)
      continue()
    endif()
    file(RELATIVE_PATH id "${directory}" "${folder}")
    if(id STREQUAL "")
      get_filename_component(id "${directory}" NAME)
    endif()
    # The first of a folder's descriptions has the folder's id.
    list(GET descriptions 0 first)
    if(NOT description STREQUAL first)
      get_filename_component(stem "${file}" NAME_WE)
      string(APPEND id "/${stem}")
    endif()
    _dmlop_literal_pattern("${id}" filter)
    _dmlop_operator("${file}" operator)
    _dmlop_tags("${folder}" tags)
    set(name "${arg_PREFIX}${id}")
    add_test(NAME "${name}" COMMAND dmlop::program batch "${directory}" "--filter=${filter}"
      "--device=${arg_DEVICE}" --skip-code 77)
    set_tests_properties("${name}" PROPERTIES SKIP_RETURN_CODE 77 LABELS "${operator};${tags}")
    set(is_any TRUE)
  endforeach()
  if(NOT is_any)
    message(FATAL_ERROR "dmlop_add_golden_tests: no op.json, model.json, graph.json or Partition_N.bin, and no "
      "model.onnx beside a test_data_set_0, lies in ${directory} or below it")
  endif()
endfunction()

# The names of a folder's descriptions, in the order of `dmlop batch`.
function(_dmlop_descriptions folder result)
  set(names "")
  foreach(name IN ITEMS op.json model.json graph.json)
    if(EXISTS "${folder}/${name}")
      list(APPEND names "${name}")
    endif()
  endforeach()
  _dmlop_literal_pattern("${folder}" pattern)
  file(GLOB partitions RELATIVE "${folder}" "${pattern}/Partition_*.bin")
  list(FILTER partitions INCLUDE REGEX "^Partition_[0-9]+\\.bin$")
  list(APPEND names ${partitions})
  if(EXISTS "${folder}/model.onnx" AND IS_DIRECTORY "${folder}/test_data_set_0")
    list(APPEND names model.onnx)
  endif()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# The shell pattern that matches only `text`.
function(_dmlop_literal_pattern text result)
  string(REGEX REPLACE "([[*?])" "[\\1]" pattern "${text}")
  set(${result} "${pattern}" PARENT_SCOPE)
endfunction()

# The operator that a description names, such as PADDING; "" if none can be read.
function(_dmlop_operator file result)
  set(type "")
  if(file MATCHES "\\.json$")
    file(READ "${file}" text)
    string(JSON type ERROR_VARIABLE error GET "${text}" type)
    if(error)
      set(type "")
    endif()
  endif()
  string(REGEX REPLACE "^DML_OPERATOR_" "" type "${type}")
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

# The tags of the job.json in a folder; none if none can be read.
function(_dmlop_tags folder result)
  set(${result} "" PARENT_SCOPE)
  set(file "${folder}/job.json")
  if(NOT EXISTS "${file}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(JSON count ERROR_VARIABLE error LENGTH "${text}" tags)
  if(error OR count EQUAL 0)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON tag GET "${text}" tags ${index})
    list(APPEND tags "${tag}")
  endforeach()
  set(${result} "${tags}" PARENT_SCOPE)
endfunction()

cmake_policy(POP)
