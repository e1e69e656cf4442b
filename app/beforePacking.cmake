# Read by cpack before it packs. Without dpkg-shlibdeps it would make a package that depends on nothing.
if(CPACK_GENERATOR STREQUAL "DEB" AND CPACK_DEBIAN_PACKAGE_SHLIBDEPS)
  find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
  if(NOT DPKG_SHLIBDEPS)
    message(FATAL_ERROR "A Debian package names the packages that it depends on, and dpkg-shlibdeps, which finds them, "
      "is missing: install dpkg-dev, or make another package, such as cpack -G TGZ.")
  endif()
endif()

# All files of a package get one time. It is the commit's, unless
# SOURCE_DATE_EPOCH says another one; without git it is the first day that a .zip knows.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C ${CPACK_PACKAGE_SOURCE} log -1 --format=%ct
    OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT time MATCHES "^[0-9]+$")
    set(time 315532800)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} ${time})
endif()
