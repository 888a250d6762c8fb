# Options, the defaults of a build of our own, and the tools that make it quick (ccache, mold).

option(STITHY_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(STITHY_BUILD_TOOLS "Build the command stithy" ${PROJECT_IS_TOP_LEVEL})
option(STITHY_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(STITHY_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(STITHY_WERROR "Warnings are errors in our own targets" ${PROJECT_IS_TOP_LEVEL})
set(STITHY_SANITIZE "" CACHE STRING "Sanitizers of the compiler: empty, 'address;undefined' or 'thread'")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  # No -DNDEBUG: our checks do not hang on it, and a Release build should be what the tests have seen.
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g0")
  set(CMAKE_C_FLAGS_RELEASE "-O2 -g0")

  find_program(STITHY_CCACHE ccache)
  if(STITHY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # NOHASHDIR: build folders of the same sources share what they compiled.
    set(launcher env CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
        ${STITHY_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  endif()

  find_program(STITHY_MOLD mold)
  if(STITHY_MOLD)
    foreach(kind EXE SHARED MODULE)
      string(APPEND CMAKE_${kind}_LINKER_FLAGS " -fuse-ld=mold")
    endforeach()
  endif()
endif()
