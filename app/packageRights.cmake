# Run by cpack before it packs: who builds may have kept others from reading new folders.
if(CMAKE_HOST_UNIX)
  execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
endif()
