# Lists the kernel variants, and nothing else lists them, and adds them to the library:
#   dmlop_kernel_sources(<variable>) sets <variable> to the sources to add.
# For Vulkan, every variant is compiled to SPIR-V 1.3, compressed by gzip to less than a third, and embedded. For
# Direct3D, the HLSL itself is embedded once, together with the definitions of each variant.

# Calls dmlop_kernel(<name> <file> <definition>...) for every variant.
macro(dmlop_for_each_kernel)
  dmlop_kernel(copy copy)
  foreach(element_size IN ITEMS 1 2 4 8)
    foreach(way IN ITEMS 0 1 2)
      dmlop_kernel(index_map_${element_size}_${way} index_map ELEMENT_SIZE=${element_size} WAY=${way})
    endforeach()
  endforeach()
  dmlop_kernel(reverse_columns reverse_columns)
  dmlop_kernel(reverse_columns_staged reverse_columns STAGED=1)
  dmlop_kernel(transpose transpose)
  dmlop_kernel(interleave interleave)
  foreach(type IN ITEMS float32 float16)
    string(COMPARE EQUAL ${type} float16 is_float16)
    dmlop_kernel(window_norm_${type} window_norm IS_FLOAT16=${is_float16})
    dmlop_kernel(window_norm_parts_${type} window_norm_parts IS_FLOAT16=${is_float16})
  endforeach()
  foreach(kernel IN ITEMS norm_walk pooling_walk convolution_walk)
    dmlop_kernel(${kernel} ${kernel})
    dmlop_kernel(${kernel}_aligned ${kernel} ALIGNED=1)
  endforeach()
  foreach(kernel IN ITEMS
      cast integer_power gather gather_elements join sequence band head_rows random_bits fold scatter nonzero_count nonzero reduce scan top_k
      attention attention_parts attention_tiles recurrent window resample_walk unpool region_sample region_maximum region_gradient region_box_gradient)
    dmlop_kernel(${kernel} ${kernel})
  endforeach()
  dmlop_kernel(local_response local_response)
  dmlop_kernel(rows rows)
  dmlop_kernel(rows_columns rows COLUMNS=1)
  # The sections of expressions.def, for each type that its rows compute with.
  foreach(group RANGE 1 5)
    foreach(number IN ITEMS float int uint int2 uint2)
      if(group EQUAL 4 AND number MATCHES 2)
        continue()  # activations have no integers of 64 bits
      endif()
      string(TOUPPER COMPUTES_${number} computes)
      dmlop_kernel(element_wise_${group}_${number} element_wise
        EXPRESSION_GROUP=${group} NUMBER=${number} ${computes}=1)
    endforeach()
  endforeach()
  # Single sums, tiles of 64 and 128 rows and columns, and few rows.
  foreach(number IN ITEMS float int wide)
    string(TOUPPER COMPUTES_${number} computes)
    dmlop_kernel(product_${number}_1 product ${computes}=1)
  endforeach()
  foreach(number IN ITEMS float int)
    string(TOUPPER COMPUTES_${number} computes)
    dmlop_kernel(product_${number}_64 product ${computes}=1 THREAD_TILE=4 DEPTH=16)
    dmlop_kernel(product_${number}_128 product ${computes}=1 THREAD_TILE=8 DEPTH=8)
  endforeach()
  dmlop_kernel(product_vectors_64 product COMPUTES_FLOAT=1 VECTORS=1 THREAD_TILE=4 DEPTH=16)
  dmlop_kernel(product_vectors_128 product COMPUTES_FLOAT=1 VECTORS=1 THREAD_TILE=8 DEPTH=8)
  dmlop_kernel(product_few_rows product COMPUTES_FLOAT=1 FEW_ROWS=4)
  # For devices with cooperative matrices, and what tests can run without.
  dmlop_vulkan_kernel(product_matrices product_matrices)
  dmlop_vulkan_kernel(product_matrices_64 product_matrices
    ROWS=64 COLUMNS=128 DEPTH=32 SUBGROUP_ROWS=64 SUBGROUP_COLUMNS=32 BUFFERS=1)
  dmlop_vulkan_kernel(product_matrices_long product_matrices
    ROWS=64 COLUMNS=128 DEPTH=32 SUBGROUP_ROWS=32 SUBGROUP_COLUMNS=32 BUFFERS=1)
  dmlop_vulkan_kernel(product_matrices_128 product_matrices
    ROWS=128 COLUMNS=128 DEPTH=32 SUBGROUP_ROWS=64 SUBGROUP_COLUMNS=32 BUFFERS=1)
  dmlop_vulkan_kernel(product_matrices_256 product_matrices
    ROWS=256 COLUMNS=128 DEPTH=32 SUBGROUP_ROWS=64 SUBGROUP_COLUMNS=32 BUFFERS=1)
  dmlop_vulkan_kernel(product_matrices_emulated product_matrices EMULATED=1)
  dmlop_vulkan_kernel(attention_matrices_64 attention_matrices SIZE=64 ROWS=32 SUBGROUPS=4 KEYS=32)
  dmlop_vulkan_kernel(attention_matrices_128 attention_matrices SIZE=128 ROWS=16 SUBGROUPS=8 KEYS=32)
  dmlop_vulkan_kernel(attention_matrices_emulated attention_matrices
    SIZE=32 ROWS=16 SUBGROUPS=8 KEYS=32 EMULATED=1)
endmacro()

# Headers that kernels include, by their path in shaders/.
file(GLOB_RECURSE dmlop_kernel_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/shaders/*.hlsli ${PROJECT_SOURCE_DIR}/shaders/*.def)

function(dmlop_spirv_sources result)
  find_program(GLSLANG_VALIDATOR glslangValidator REQUIRED)
  find_program(GZIP gzip REQUIRED)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(modules "")
  set(included "")
  set(symbols "")
  set(rows "")

  macro(dmlop_spirv_kernel name source)
    set(definitions ${ARGN})
    list(TRANSFORM definitions PREPEND -D)
    set(options ${language} -V -S comp --target-env vulkan1.1 -DDMLOP_VULKAN ${definitions} -I${PROJECT_SOURCE_DIR}/shaders)
    # The test vulkan_modules checks that modules are valid: glslang has reported success for invalid ones.
    add_custom_command(OUTPUT ${folder}/${name}.spv.gz
      COMMAND ${GLSLANG_VALIDATOR} --quiet ${options} -o ${folder}/${name}.spv ${source}
      COMMAND ${GZIP} -9 --no-name --force ${folder}/${name}.spv
      DEPENDS ${source} ${dmlop_kernel_headers}
      COMMENT "Kernel ${name}" VERBATIM)
    list(APPEND modules ${folder}/${name}.spv.gz)
    string(APPEND included "kernel_${name}: .incbin \"${folder}/${name}.spv.gz\"\n")
    string(APPEND included "end_of_kernel_${name}:\n")
    string(APPEND symbols "extern const unsigned char kernel_${name}[], end_of_kernel_${name}[];\n")
    string(APPEND rows "    Kernel{\"${name}\", kernel_${name}, end_of_kernel_${name}},\n")
  endmacro()
  macro(dmlop_kernel name file)
    set(language -D -e main)  # HLSL
    dmlop_spirv_kernel(${name} ${PROJECT_SOURCE_DIR}/shaders/${file}.hlsl ${ARGN})
  endmacro()
  macro(dmlop_vulkan_kernel name file)
    set(language "")  # GLSL
    dmlop_spirv_kernel(${name} ${PROJECT_SOURCE_DIR}/shaders/${file}.comp ${ARGN})
  endmacro()
  dmlop_for_each_kernel()

  # The assembler includes the files: a compiler would take seconds to read so many numbers.
  file(CONFIGURE OUTPUT ${folder}/embedded_kernels.cpp @ONLY CONTENT [[
#include <array>

#include "gpu/vulkan/kernels.hpp"

asm(R"(
.pushsection .rodata
@included@.popsection
)");

#pragma GCC visibility push(hidden)
extern "C" {
@symbols@}
#pragma GCC visibility pop

namespace dmlop::gpu::vulkan {
namespace {

constexpr std::array all_kernels{
@rows@};

}  // namespace

std::span<const Kernel> kernels() { return all_kernels; }

}  // namespace dmlop::gpu::vulkan
]])
  set_source_files_properties(${folder}/embedded_kernels.cpp PROPERTIES OBJECT_DEPENDS "${modules}")
  set(${result} ${folder}/embedded_kernels.cpp PARENT_SCOPE)
endfunction()

function(dmlop_hlsl_sources result)
  set(shaders ${PROJECT_SOURCE_DIR}/shaders)
  set(texts "")
  set(files "")
  macro(dmlop_vulkan_kernel)
  endmacro()
  macro(dmlop_kernel name file)
    list(APPEND files ${file})
  endmacro()
  dmlop_for_each_kernel()
  list(REMOVE_DUPLICATES files)
  foreach(name IN LISTS files)
    file(READ ${shaders}/${name}.hlsl text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shaders}/${name}.hlsl)
    while(text MATCHES "\n#include \"([a-z0-9_/.]+)\"")
      set(header ${CMAKE_MATCH_1})
      file(READ ${shaders}/${header} included)
      string(REPLACE "\n#include \"${header}\"" "\n${included}" text "${text}")
    endwhile()
    # Not every compiler accepts a literal longer than 16 KiB, or of more than 64 KiB in parts: there are several
    # adjacent literals, without lines that are comments.
    string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")
    string(REPLACE "\n\n" "\n\n)hlsl\"\nR\"hlsl(" text "${text}")
    string(APPEND texts "constexpr char ${name}[] = R\"hlsl(${text})hlsl\";\n\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dmlop_kernel_headers})
  set(rows "")
  macro(dmlop_kernel name file)
    string(APPEND rows
      "    KernelSource{\"${name}\", \"${file}.hlsl\", {${file}, sizeof ${file} - 1}, \"${ARGN}\"},\n")
  endmacro()
  dmlop_for_each_kernel()

  set(file ${CMAKE_CURRENT_BINARY_DIR}/hlsl_kernels.cpp)
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[
#include "gpu/d3d12/kernels.hpp"

#include <array>

namespace dmlop::gpu::d3d12 {
namespace {

@texts@
constexpr std::array kernels{
@rows@};

}  // namespace

std::span<const KernelSource> kernel_sources() { return kernels; }

std::optional<KernelSource> find_kernel(std::string_view name) {
  for (const KernelSource& kernel : kernels) {
    if (kernel.name == name) return kernel;
  }
  return std::nullopt;
}

}  // namespace dmlop::gpu::d3d12
]])
  set(${result} ${file} PARENT_SCOPE)
endfunction()

function(dmlop_kernel_sources result)
  if(WIN32)
    dmlop_hlsl_sources(sources)
  else()
    dmlop_spirv_sources(sources)
  endif()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
