# Examples: one program per file, linked with the library alone, run as a test. They see nothing but include/cellar.
# What one prints is compared with examples/expected/<name>.txt, where there is such a file.
cellar_sources(cellar_example_sources examples)
foreach(source IN LISTS cellar_example_sources)
  get_filename_component(stem "${source}" NAME_WE)
  add_executable(example_${stem} "${source}")
  cellar_target(example_${stem})
  target_link_libraries(example_${stem} PRIVATE cellar::cellar)
  set(scratch "${PROJECT_BINARY_DIR}/example_runs/${stem}")
  file(MAKE_DIRECTORY "${scratch}")
  set(expected "${PROJECT_SOURCE_DIR}/examples/expected/${stem}.txt")
  if(EXISTS "${expected}")
    add_test(NAME examples.${stem} WORKING_DIRECTORY "${scratch}"
             COMMAND "${CMAKE_COMMAND}" -DPROGRAM=$<TARGET_FILE:example_${stem}> "-DEXPECTED=${expected}"
                     -P "${PROJECT_SOURCE_DIR}/cmake/CompareOutput.cmake")
  else()
    add_test(NAME examples.${stem} COMMAND example_${stem} WORKING_DIRECTORY "${scratch}")
  endif()
  set_tests_properties(examples.${stem} PROPERTIES TIMEOUT 120)
endforeach()
