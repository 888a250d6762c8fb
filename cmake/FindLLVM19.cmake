# LLVM 19's C interface: STITHY_LLVM_INCLUDE and STITHY_LLVM_LIBRARY (the shared library).

find_program(STITHY_LLVM_CONFIG NAMES llvm-config-19 HINTS /usr/lib/llvm-19/bin)
set(hint /usr/lib/llvm-19)
if(STITHY_LLVM_CONFIG)
  execute_process(COMMAND ${STITHY_LLVM_CONFIG} --prefix OUTPUT_VARIABLE hint OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_path(STITHY_LLVM_INCLUDE llvm-c/Core.h HINTS ${hint}/include NO_DEFAULT_PATH)
find_library(STITHY_LLVM_LIBRARY NAMES LLVM-19 LLVM HINTS ${hint}/lib NO_DEFAULT_PATH)
if(NOT STITHY_LLVM_INCLUDE OR NOT STITHY_LLVM_LIBRARY)
  message(FATAL_ERROR "LLVM 19 was not found (looked under ${hint}). On Debian 12: apt-get install llvm-19-dev")
endif()
