# dmlop_embedded_page(GENERATED_SOURCE PAGE FUNCTION): puts a page of this folder together and embeds it. FUNCTION of
# pages/templates.hpp returns it. A line "@INCLUDE FILE@" stands for the text of a file of this folder. Tests find the
# whole page as pages/PAGE in the build folder.
function(dmlop_embedded_page generated_source page function)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/pages)
  file(READ ${folder}/${page} text)
  set(files ${page})
  string(REGEX MATCHALL "@INCLUDE [a-z_.]+@" lines "${text}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "@INCLUDE (.*)@" "\\1" file "${line}")
    file(READ ${folder}/${file} part)
    string(REPLACE "${line}\n" "${part}" text "${text}")
    list(APPEND files ${file})
  endforeach()
  list(TRANSFORM files PREPEND ${folder}/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pages/${page} "${text}")
  # Not every compiler accepts a literal longer than 16 KiB, so it becomes several adjacent literals.
  string(REPLACE "\n\n" "\n\n)report\"\nR\"report(" text "${text}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "pages/templates.hpp"

namespace dmlop {

std::string_view @function@() {
  return R"report(@text@)report";
}

}  // namespace dmlop
]])
  set(${generated_source} ${source} PARENT_SCOPE)
endfunction()
