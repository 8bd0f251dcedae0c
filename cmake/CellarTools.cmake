# The program `cellar`: sub-commands are plug-ins (tools/cmd_*.cc); everything but main.cc can be linked by tests.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
cellar_find(edit histedit.h edit libedit-dev OPTIONAL)  # line editing in the shell

cellar_layer(tools DEPENDS engine LIBS fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json cellar_dep::edit cellar_dep::re2 EXCLUDE "/main\\.cc$")
file(GLOB cellar_tool_main CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/main.cc")
if(cellar_tool_main)
  add_executable(cellar_tool ${cellar_tool_main})
  set_target_properties(cellar_tool PROPERTIES OUTPUT_NAME cellar)
  cellar_target(cellar_tool)
  cellar_link_layers(cellar_tool tools)
  target_link_libraries(cellar_tool PRIVATE fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
