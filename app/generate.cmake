# cmake -DPROGRAM=dmlop -DBUILD=FOLDER -P generate.cmake: writes what the program prints about itself.
function(generate file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(text STREQUAL "")
    message(FATAL_ERROR "${PROGRAM} ${ARGN} printed nothing")
  endif()
  file(WRITE ${BUILD}/${file} "${text}")
endfunction()

generate(dmlop.schema.json schema)
generate(generated/dmlop.1 manual)
foreach(shell IN ITEMS bash zsh fish)
  generate(generated/dmlop.${shell} completion ${shell})
endforeach()
