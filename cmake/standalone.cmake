# What a release ships (tools/release.sh): programs that need the C library alone, and libgcc_s, which every system
# has. ASSAY_STATIC is the folder that tools/static_deps.sh fills. Nothing is compiled differently.
set(ASSAY_STATIC "" CACHE PATH "static libraries for a program that runs on its own; empty: those of the system")

# assay_standalone(target archives...): links it with these archives in place of shared libraries.
function(assay_standalone target)
  if(NOT ASSAY_STATIC)
    return()
  endif()
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/glibc_floor.c)
  # The archives stand before everything: lld takes a name from what it saw first, and a shared library of which
  # nothing is wanted is left out.
  target_link_options(${target} PRIVATE -fuse-ld=lld ${ARGN} -static-libstdc++ -shared-libgcc -Wl,--as-needed
                                        -Wl,--gc-sections -Wl,--icf=safe -Wl,-s)
endfunction()

# The archives of the program.
function(assay_program_archives out)
  set(archives)
  foreach(name simdjson fmt isal)
    list(APPEND archives ${ASSAY_STATIC}/lib${name}.a)
  endforeach()
  foreach(name zstd sqlite3 csv z)
    find_library(ASSAY_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
    list(APPEND archives ${ASSAY_ARCHIVE_${name}})
  endforeach()
  set(${out} ${archives} PARENT_SCOPE)
endfunction()
