# Installing: the static library, include/cellar, and what find_package(cellar) needs to find its libraries again.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(cellar_package "${CMAKE_INSTALL_LIBDIR}/cmake/cellar")
get_property(cellar_layers GLOBAL PROPERTY CELLAR_LAYERS)
list(TRANSFORM cellar_layers PREPEND cellar_)  # without objects: they carry the list of libraries to link
install(TARGETS cellar ${cellar_layers} EXPORT cellar_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/cellar DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(EXPORT cellar_targets NAMESPACE cellar:: DESTINATION "${cellar_package}")

configure_package_config_file(cmake/cellarConfig.cmake.in "${PROJECT_BINARY_DIR}/cellarConfig.cmake"
  INSTALL_DESTINATION "${cellar_package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cellarConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cellarConfig.cmake" "${PROJECT_BINARY_DIR}/cellarConfigVersion.cmake"
  cmake/CellarDependencies.cmake DESTINATION "${cellar_package}")
