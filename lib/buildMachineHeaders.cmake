# When building for Windows on another system, header-only packages are taken from this machine. Its include
# folder also holds the headers of its C library, so the build uses a folder with links to the packages only.
set(folder ${CMAKE_BINARY_DIR}/build-machine-headers)
file(MAKE_DIRECTORY ${folder})
foreach(name IN ITEMS CLI nlohmann doctest valijson hwy protozero stb xxhash.h xxh3.h directx dxguids)
  find_path(found_${name} ${name} PATHS /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
  if(found_${name})
    file(CREATE_LINK ${found_${name}}/${name} ${folder}/${name} SYMBOLIC)
  endif()
endforeach()
set(CMAKE_INCLUDE_PATH ${folder})

# dmlop_headers_only(<target>): defines a package's target that uses this folder.
function(dmlop_headers_only target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/build-machine-headers)
endfunction()
dmlop_headers_only(CLI11::CLI11)
dmlop_headers_only(nlohmann_json::nlohmann_json)
dmlop_headers_only(doctest::doctest)
