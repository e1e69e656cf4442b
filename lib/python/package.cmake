# The Python package: cmake --build build --target wheel makes build/wheel/dmlop-VERSION-py3-none-PLATFORM.whl, which
# pip installs without a network. Nothing is compiled for Python, so that one wheel serves all its versions.
find_program(DMLOP_PYTHON python3)
if(NOT DMLOP_PYTHON)
  return()
endif()
set(python_folder ${CMAKE_CURRENT_SOURCE_DIR}/python)
set(python_stubs ${PROJECT_BINARY_DIR}/generated/_ops.pyi)
file(GLOB python_sources CONFIGURE_DEPENDS ${python_folder}/dmlop/*.py)
add_custom_command(OUTPUT ${python_stubs}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/generated
  COMMAND ${DMLOP_PYTHON} ${python_folder}/stubs.py ${PROJECT_SOURCE_DIR}/specs ${python_stubs}
  DEPENDS ${python_folder}/stubs.py ${PROJECT_SOURCE_DIR}/specs/directml.json ${spec_files}
  COMMENT "Writing the type stubs of the Python package" VERBATIM)
set(wheel_command ${DMLOP_PYTHON} ${python_folder}/wheel.py --package ${python_folder} --library $<TARGET_FILE:dmlop_c>
  --stubs ${python_stubs} --license ${PROJECT_SOURCE_DIR}/LICENSE --version ${PROJECT_VERSION}
  --machine ${CMAKE_SYSTEM_PROCESSOR} --folder ${PROJECT_BINARY_DIR}/wheel)
set(wheel_stamp ${CMAKE_CURRENT_BINARY_DIR}/wheel.stamp)
add_custom_command(OUTPUT ${wheel_stamp}
  COMMAND ${wheel_command}
  COMMAND ${CMAKE_COMMAND} -E touch ${wheel_stamp}
  DEPENDS dmlop_c ${python_stubs} ${python_sources} ${python_folder}/wheel.py ${python_folder}/README.md
    ${PROJECT_SOURCE_DIR}/LICENSE
  COMMENT "Making the wheel of the Python package" VERBATIM)
add_custom_target(wheel DEPENDS ${wheel_stamp})

# What Python and pytest read about a package that is installed without the wheel.
set(python_info ${PROJECT_BINARY_DIR}/generated/dmlop-${PROJECT_VERSION}.dist-info)
set(python_info_files ${python_info}/METADATA ${python_info}/entry_points.txt ${python_info}/LICENSE)
add_custom_command(OUTPUT ${python_info_files}
  COMMAND ${DMLOP_PYTHON} ${python_folder}/wheel.py --info-only --package ${python_folder}
    --license ${PROJECT_SOURCE_DIR}/LICENSE --version ${PROJECT_VERSION} --folder ${python_info}
  DEPENDS ${python_folder}/wheel.py ${python_folder}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
  COMMENT "Writing what Python knows about the package" VERBATIM)
add_custom_target(python_package ALL DEPENDS ${python_stubs} ${python_info_files})
add_dependencies(wheel python_package)
set_property(TARGET wheel PROPERTY DMLOP_WHEEL_COMMAND ${wheel_command})  # for its test

# The packaged python3 finds it there; the library is in lib/.
if(DMLOP_INSTALL AND NOT WIN32)
  install(FILES ${python_sources} ${python_folder}/dmlop/py.typed ${python_stubs}
    DESTINATION lib/python3/dist-packages/dmlop)
  install(FILES ${python_info_files}
    DESTINATION lib/python3/dist-packages/dmlop-${PROJECT_VERSION}.dist-info)
endif()
