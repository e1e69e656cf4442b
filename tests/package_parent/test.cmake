# cmake -DDMLOP=... -DMAIN=... -DBUILD=... -DGENERATOR=... -DCOMPILER=... -P test.cmake
# Configures a parent project of dmlop. The parent compares itself before and after; here its commands are
# compared: linking dmlop::dmlop adds the public header's folder and C++20, and nothing else. Then the command
# of the file that uses the header runs without writing an object. All of dmlop is not compiled again.
function(run_well)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code
    WORKING_DIRECTORY ${BUILD})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${code}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${BUILD})
file(MAKE_DIRECTORY ${BUILD})
run_well(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${BUILD} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DDMLOP=${DMLOP} -DMAIN=${MAIN})

file(READ ${BUILD}/compile_commands.json commands)
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON file GET "${commands}" ${i} file)
  string(JSON command GET "${commands}" ${i} command)
  if(file STREQUAL MAIN AND command MATCHES "uses_dmlop\\.dir")
    set(with "${command}")
  elseif(file STREQUAL MAIN)
    set(without "${command}")
  endif()
endforeach()
string(REPLACE "alone.dir" "uses_dmlop.dir" without "${without}")
string(REGEX REPLACE " -I[^ ]*/lib/include" "" bare "${with}")
string(REGEX REPLACE " -std=(gnu|c)\\+\\+20" "" bare "${bare}")
string(REGEX REPLACE " +" " " bare "${bare}")
string(REGEX REPLACE " -std=[^ ]*" "" without "${without}")
string(REGEX REPLACE " +" " " without "${without}")
if(NOT bare STREQUAL without OR with STREQUAL without)
  message(FATAL_ERROR "linking dmlop::dmlop turned\n${without}\ninto\n${with}")
endif()
run_well(sh -c "${with} -fsyntax-only")
