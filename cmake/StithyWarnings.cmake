# stithy_warnings(target): the warnings of our own targets, as errors where STITHY_WERROR is on.

function(stithy_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(STITHY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports these wrongly inside the standard library once it has inlined it (strings, vectors, optional).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds
                                             -Wno-maybe-uninitialized -Wno-free-nonheap-object)
    # Sanitizers change the inlining and with it the false reports.
    if(STITHY_SANITIZE)
      target_compile_options(${target} PRIVATE -Wno-error)
    endif()
  else()
    # clang counts int -> float of constants known to fit, and sign changes, with -Wconversion; g++ does not in C++.
    target_compile_options(${target} PRIVATE -Wno-sign-conversion -Wno-implicit-int-float-conversion)
  endif()
endfunction()
