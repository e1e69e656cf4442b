# cmake -DFOLDER=... -P headers.cmake: of the include folder, dmlop has its one header and nothing else, and that
# includes headers of the C++ library only.
file(GLOB_RECURSE headers RELATIVE ${FOLDER} ${FOLDER}/*)
if(NOT headers STREQUAL "dmlop/dmlop.hpp")
  message(FATAL_ERROR "installed are ${headers}, must be dmlop/dmlop.hpp alone")
endif()
file(STRINGS ${FOLDER}/dmlop/dmlop.hpp includes REGEX "^ *# *include")
foreach(line IN LISTS includes)
  if(NOT line MATCHES "^#include <[a-z_]+>$")
    message(SEND_ERROR "the public header has ${line}")
  endif()
endforeach()
