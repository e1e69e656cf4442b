# Run by cpack after it has packed: packs the .tar.gz and the .zip again with their files in order. CPack takes the
# order of the file system, and the owner from whoever builds. A .deb has its files in order; its three parts get rights
# that do not depend on that.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "\\.deb$")
    set(folder ${package}.parts)
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND ${CPACK_PACKAGE_AR} x ${package} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB parts RELATIVE ${folder} ${folder}/*.tar.*)  # control.tar.gz, data.tar.gz
    file(REMOVE ${package})
    execute_process(COMMAND ${CPACK_PACKAGE_AR} rcD ${package} debian-binary ${parts}
      WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
  endif()
  if(NOT package MATCHES "\\.(tar\\.gz|zip)$")
    continue()
  endif()
  get_filename_component(folder ${CPACK_TEMPORARY_DIRECTORY} DIRECTORY)
  get_filename_component(top ${CPACK_TEMPORARY_DIRECTORY} NAME)
  if(package MATCHES "zip$")
    set(with_folders false)  # they follow from the files, and would be packed with all that is in them
    set(files "")
  else()
    set(with_folders true)
    set(files ${top})
  endif()
  file(GLOB_RECURSE found LIST_DIRECTORIES ${with_folders} RELATIVE ${folder} ${CPACK_TEMPORARY_DIRECTORY}/*)
  list(APPEND files ${found})
  list(SORT files)
  list(JOIN files "\n" lines)
  set(list ${folder}/packed-files.txt)
  file(WRITE ${list} "${lines}\n")
  file(REMOVE ${package})
  if(package MATCHES "zip$")
    set(pack ${CMAKE_COMMAND} -E tar cf ${package} --format=zip --files-from=${list})
  else()
    set(pack sh -c [[
      tar --no-recursion --owner=0 --group=0 --numeric-owner --format=gnu \
        "--mtime=@$SOURCE_DATE_EPOCH" -cf - -T "$1" | gzip -9n > "$2"]] sh ${list} ${package})
  endif()
  execute_process(COMMAND ${pack} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${list})
endforeach()
