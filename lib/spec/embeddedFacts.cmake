# Embeds the rows of specs/directml.json, differences.json and measurements.json one by one, so that a program parses
# only those that it needs. Every member but "about" is a list of rows, and the first member of a row is its name.
function(dmlop_embedded_facts generated_source)
  set(rows "")
  foreach(name IN ITEMS directml differences measurements)
    set(file ${PROJECT_SOURCE_DIR}/specs/${name}.json)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} facts)
    string(JSON section_count LENGTH "${facts}")
    math(EXPR last_section "${section_count} - 1")
    foreach(section_index RANGE ${last_section})
      string(JSON section MEMBER "${facts}" ${section_index})
      if(section STREQUAL about)
        continue()
      endif()
      string(JSON section_text GET "${facts}" ${section})
      string(JSON row_count LENGTH "${section_text}")
      math(EXPR last "${row_count} - 1")
      foreach(i RANGE ${last})
        string(JSON text GET "${section_text}" ${i})
        string(JSON name_of_row GET "${text}" 0)
        string(REGEX REPLACE "\n[ \t]*" "" text "${text}")
        string(APPEND rows "    EmbeddedFact{\"${section}\", \"${name_of_row}\", R\"json(${text})json\"},\n")
      endforeach()
    endforeach()
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_facts.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "spec/embedded_facts.hpp"

namespace dmlop {
namespace {

// Not std::array, whose length clang does not deduce from so many.
constexpr EmbeddedFact facts[]{
@rows@};

}  // namespace

std::span<const EmbeddedFact> embedded_facts() { return facts; }

}  // namespace dmlop
]])
  set(${generated_source} ${source} PARENT_SCOPE)
endfunction()
