# How our targets are set up: one function, so that flags stand in one place.

# The rooms of src/, in the order in which they may include each other.
set(STITHY_ROOMS base runtime ir ops transform pass plan cpu cuda array trace)

# stithy_sanitize(target): the sanitizers asked for by STITHY_SANITIZE.
function(stithy_sanitize target)
  if(STITHY_SANITIZE)
    list(JOIN STITHY_SANITIZE "," kinds)
    target_compile_options(${target} PRIVATE -fsanitize=${kinds} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    target_link_options(${target} PRIVATE -fsanitize=${kinds})
  endif()
endfunction()

# stithy_setup(target): language level, warnings and sanitizers of a target of ours; defaults of a surrounding project do not reach it.
function(stithy_setup target)
  stithy_warnings(${target})
  stithy_sanitize(${target})
  target_compile_features(${target} PRIVATE cxx_std_20)
  # What is exported is the business of exports.map.
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD OFF CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    target_compile_options(${target} PRIVATE -O2) # a project around us that chose nothing still wants a quick library
  endif()
endfunction()

# stithy_link_rooms(target room): the object files of a room and of the rooms below it. A target that needs a higher room does not link.
function(stithy_link_rooms target last)
  foreach(room IN LISTS STITHY_ROOMS)
    if(TARGET stithy_${room})
      target_link_libraries(${target} PRIVATE stithy_${room})
    endif()
    if(room STREQUAL last)
      break()
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE stithy_headers fmt::fmt Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()

# stithy_add_test(name labels command...): a test with its labels. Compiled kernels are cached in the build folder, not in the user's home.
function(stithy_add_test name labels)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 900 ENVIRONMENT "STITHY_CACHE_DIR=${PROJECT_BINARY_DIR}/cache")
endfunction()
