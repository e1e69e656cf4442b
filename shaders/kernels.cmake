# Compiles every kernel variant to SPIR-V 1.3, checks it, and embeds all in one source file:
#   dmlop_kernel_sources(<variable>) gives the sources to add to the library.
# The variants are enumerated here and nowhere else.

function(dmlop_kernel_sources result)
  find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
  find_program(SPIRV_VAL spirv-val REQUIRED)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(includes "")
  set(rows "")
  set(headers "")

  # Adds one variant: dmlop_kernel(<name> <file> <definitions>...)
  macro(dmlop_kernel name file)
    set(source ${PROJECT_SOURCE_DIR}/shaders/${file}.hlsl)
    set(options -D -V -e main -S comp --target-env vulkan1.1 -DDMLOP_VULKAN ${ARGN} -I${PROJECT_SOURCE_DIR}/shaders)
    add_custom_command(OUTPUT ${folder}/${name}.h
      COMMAND ${GLSLANG_VALIDATOR} --quiet ${options} -o ${folder}/${name}.spv ${source}
      # glslang has been seen to report success for modules that are not valid.
      COMMAND ${SPIRV_VAL} --target-env vulkan1.1 ${folder}/${name}.spv
      COMMAND ${GLSLANG_VALIDATOR} --quiet ${options} --vn kernel_${name} -o ${folder}/${name}.h ${source}
      DEPENDS ${source} ${PROJECT_SOURCE_DIR}/shaders/common.hlsli
      COMMENT "Kernel ${name}" VERBATIM)
    list(APPEND headers ${folder}/${name}.h)
    string(APPEND includes "#include \"${folder}/${name}.h\"\n")
    string(APPEND rows "    Kernel{\"${name}\", kernel_${name}},\n")
  endmacro()

  dmlop_kernel(copy copy)
  foreach(element_size IN ITEMS 1 2 4 8)
    foreach(rank IN ITEMS 1 2 3 4 8)
      # In the order of enum Boundary; reversals have none.
      foreach(boundary RANGE 0 5)
        dmlop_kernel(index_map_${element_size}_${boundary}_${rank}_0 index_map
          -DELEMENT_SIZE=${element_size} -DBOUNDARY=${boundary} -DRANK=${rank} -DREVERSAL=0)
      endforeach()
      foreach(reversal IN ITEMS 1 2)
        if(rank EQUAL 1 AND reversal EQUAL 2)
          continue()  # a single axis is the innermost
        endif()
        dmlop_kernel(index_map_${element_size}_0_${rank}_${reversal} index_map
          -DELEMENT_SIZE=${element_size} -DBOUNDARY=0 -DRANK=${rank} -DREVERSAL=${reversal})
      endforeach()
    endforeach()
  endforeach()
  foreach(element_size IN ITEMS 2 4)
    foreach(exponent IN ITEMS 0 1 2 3)
      foreach(columns IN ITEMS 0 2 3)
        dmlop_kernel(lp_pooling_${element_size}_${exponent}_${columns} lp_pooling
          -DELEMENT_SIZE=${element_size} -DP=${exponent} -DCOLUMNS=${columns})
      endforeach()
    endforeach()
  endforeach()

  file(CONFIGURE OUTPUT ${folder}/kernels.cpp @ONLY CONTENT [[
#include "gpu/kernels.hpp"

#include <array>

@includes@
namespace dmlop::gpu {
namespace {

constexpr std::array kernels{
@rows@};

}  // namespace

std::span<const std::uint32_t> find_kernel(std::string_view name) {
  for (const Kernel& kernel : kernels) {
    if (kernel.name == name) return kernel.spirv;
  }
  return {};
}

}  // namespace dmlop::gpu
]])
  set_source_files_properties(${folder}/kernels.cpp PROPERTIES OBJECT_DEPENDS "${headers}")
  set(${result} ${folder}/kernels.cpp PARENT_SCOPE)
endfunction()
