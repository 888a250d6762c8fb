# cmake --install, and the package that find_package(stithy) finds.

include(CMakePackageConfigHelpers)

install(TARGETS stithy EXPORT stithyTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/stithy" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(TARGET stithy_llvm)
  install(TARGETS stithy_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/stithy)
endif()
if(TARGET stithy_command)
  set_target_properties(stithy_command PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS stithy_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT stithyTargets NAMESPACE stithy:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stithy)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/stithyConfig.cmake.in" "${PROJECT_BINARY_DIR}/stithyConfig.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stithy)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/stithyConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/stithyConfig.cmake" "${PROJECT_BINARY_DIR}/stithyConfigVersion.cmake"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/stithy)
