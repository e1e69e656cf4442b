# The layer as a DLL: DirectML.dll, in a folder of its own, so that no program beside it loads it by chance.
add_library(dmlop_layer SHARED
  layer/dll/device.cpp layer/dll/exports.cpp layer/dll/objects.cpp layer/dll/reports.cpp layer/dll/DirectML.def)
set_target_properties(dmlop_layer PROPERTIES OUTPUT_NAME DirectML PREFIX "" IMPORT_PREFIX "" UNITY_BUILD OFF
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layer ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layer)
target_compile_definitions(dmlop_layer PRIVATE DMLOP_LAYER_MARK="dmlop DirectML layer ${PROJECT_VERSION}")
target_include_directories(dmlop_layer PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
# The archive, of which the linker takes what the layer needs.
target_link_libraries(dmlop_layer PRIVATE libdmlop nlohmann_json::nlohmann_json dmlop_options)
if(MINGW)
  target_link_options(dmlop_layer PRIVATE -static -static-libgcc -static-libstdc++)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(dmlop_layer PRIVATE $<$<CONFIG:Release>:-Os>)
  target_link_options(dmlop_layer PRIVATE $<$<CONFIG:Release>:-s>)
endif()
if(DMLOP_INSTALL)
  install(TARGETS dmlop_layer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}/layer COMPONENT program)
endif()
