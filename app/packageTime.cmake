# Read by cpack before it packs: the time that all files of a package get. It is the commit's, unless
# SOURCE_DATE_EPOCH says another one; without git it is the first day that a .zip knows.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C ${CPACK_PACKAGE_SOURCE} log -1 --format=%ct
    OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT time MATCHES "^[0-9]+$")
    set(time 315532800)
  endif()
  set(ENV{SOURCE_DATE_EPOCH} ${time})
endif()
