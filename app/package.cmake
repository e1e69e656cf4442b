# Packages: cmake --build build --target package makes a .deb and a .tar.gz, and for Windows a .zip. Two builds of
# one commit give the same bytes: the files have the time of the commit (or SOURCE_DATE_EPOCH), their order and
# their rights depend on nothing, and the .tar.gz and the .zip are packed by packArchives.cmake.
set(CPACK_PACKAGE_NAME dmlop)
set(CPACK_PACKAGE_VENDOR dmlop)
set(DMLOP_PACKAGE_CONTACT "dmlop maintainers <maintainers@dmlop.invalid>" CACHE STRING
  "Who answers for the .deb: a name and an address")
set(CPACK_PACKAGE_CONTACT "${DMLOP_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs DirectML operators anywhere")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME dmlop-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
string(TOLOWER ${CPACK_PACKAGE_FILE_NAME} CPACK_PACKAGE_FILE_NAME)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR DEB TGZ)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # what the program is linked with: libc6
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libvulkan1, python3")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Runs DirectML operators on the CPU or on a GPU, checks their descriptions,\n compares outputs with golden files, and runs whole folders of such jobs.")

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/beforePacking.cmake)
set(CPACK_PACKAGE_AR ${CMAKE_AR})
set(CPACK_PACKAGE_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/packageDebian.cmake ${CMAKE_CURRENT_LIST_DIR}/packageRights.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/packArchives.cmake)
include(CPack)
