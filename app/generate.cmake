# cmake -DPROGRAM=dmlop -DBUILD=FOLDER -P generate.cmake: writes the schemas, the man page, the completions and
# the page about operators.
function(generate file)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(text STREQUAL "")
    message(FATAL_ERROR "${PROGRAM} ${ARGN} printed nothing")
  endif()
  file(WRITE ${BUILD}/${file} "${text}")
endfunction()

generate(dmlop.schema.json schema)
foreach(kind IN ITEMS jobs job tolerance model graph)
  generate(dmlop-${kind}.schema.json schema --${kind})
endforeach()
generate(generated/dmlop.1 manual)
foreach(shell IN ITEMS bash zsh fish)
  generate(generated/dmlop.${shell} completion ${shell})
endforeach()
execute_process(COMMAND ${PROGRAM} ops --html ${BUILD}/generated/operators.html COMMAND_ERROR_IS_FATAL ANY)
