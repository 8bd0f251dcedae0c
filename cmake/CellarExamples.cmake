# Examples: one program per file, linked with the library alone, run as a test. They see nothing but include/cellar.
# The output of one is compared with examples/expected/<name>.txt, where there is such a file.
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

# Applications: a folder of examples/ with programs and a run.sh, which is run as a test on the sample in the folder.
file(GLOB cellar_applications CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/examples" "${PROJECT_SOURCE_DIR}/examples/*/run.sh")
add_custom_target(cellar_applications)
if(TARGET cellar_tool)
  add_dependencies(cellar_applications cellar_tool)
endif()
foreach(script IN LISTS cellar_applications)
  get_filename_component(application "${script}" DIRECTORY)
  cellar_sources(sources "examples/${application}")
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    add_executable(example_${stem} "${source}")
    cellar_target(example_${stem})
    target_include_directories(example_${stem} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(example_${stem} PRIVATE cellar::cellar)
    add_dependencies(cellar_applications example_${stem})
  endforeach()
  if(TARGET cellar_tool)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/example_runs")
    add_test(NAME applications.${application}
             COMMAND bash "${PROJECT_SOURCE_DIR}/examples/${script}" "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/example_runs/${application}")
    set_tests_properties(applications.${application} PROPERTIES TIMEOUT 300)
  endif()
endforeach()

# Each application has a picture of its tables, drawn from its picture.json.
if(CELLAR_BUILD_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME applications.pictures COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/docs/pictures/draw_tables.py" --check)
  add_test(NAME applications.draw_tables_py COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/docs/pictures/draw_tables_test.py")
  set_tests_properties(applications.pictures applications.draw_tables_py PROPERTIES TIMEOUT 60
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endif()
