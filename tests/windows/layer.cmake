# The layer's DLL under Wine: an application, the layer, and a DirectML.dll of ours that computes nothing.
add_library(fake_directml MODULE windows/layer/fake_directml.cpp windows/layer/fake_directml.def)
target_link_options(fake_directml PRIVATE -static)
set_target_properties(fake_directml PROPERTIES OUTPUT_NAME DirectML.real PREFIX "")
add_executable(layer_host windows/layer/host.cpp support/paths.cpp support/struct_builder.cpp)
target_include_directories(layer_host PRIVATE support)
target_link_libraries(layer_host PRIVATE libdmlop nlohmann_json::nlohmann_json)
foreach(target IN ITEMS fake_directml layer_host)
  target_link_libraries(${target} PRIVATE dmlop_options)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  set_target_properties(${target} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layer_test RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/layer_test)
endforeach()
add_custom_target(layer_beside_host
  COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:dmlop_layer> ${PROJECT_BINARY_DIR}/layer_test/DirectML.dll
  DEPENDS dmlop_layer VERBATIM)
add_dependencies(layer_host fake_directml layer_beside_host)
foreach(mode IN ITEMS refusals pointers graphs inside bindings devices threads capture quiet)
  add_test(NAME layer_${mode} COMMAND layer_host ${mode})
  set_tests_properties(layer_${mode} PROPERTIES LABELS layer TIMEOUT 600 RESOURCE_LOCK layer_test)
endforeach()
set_tests_properties(layer_quiet PROPERTIES ENVIRONMENT "DMLOP_LAYER=quiet")
set_tests_properties(layer_capture PROPERTIES
  ENVIRONMENT "DMLOP_CAPTURE=Z:${PROJECT_BINARY_DIR}/layer_test/captured")
# Microsoft's DirectML.dll is not here. README.md of lib/layer says how to try it.
add_test(NAME layer_real COMMAND layer_host real)
set_tests_properties(layer_real PROPERTIES LABELS layer SKIP_RETURN_CODE 77 RESOURCE_LOCK layer_test)
