# The program `cellar`: sub-commands are plug-ins (tools/*/cmd_*.cc); everything but main.cc can be linked by tests.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
cellar_find(edit histedit.h edit libedit-dev OPTIONAL)  # line editing in the shell

cellar_layer(tools/frame    DEPENDS engine         LIBS fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
cellar_layer(tools/store    DEPENDS tools/frame    LIBS fmt::fmt nlohmann_json::nlohmann_json)
cellar_layer(tools/hbase    DEPENDS tools/store hbase/proto LIBS fmt::fmt cellar_dep::protobuf_lite)
cellar_layer(tools/query    DEPENDS tools/hbase    LIBS fmt::fmt)
cellar_layer(tools/transfer DEPENDS tools/query    LIBS fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB)
cellar_layer(tools/files    DEPENDS tools/hbase    LIBS fmt::fmt nlohmann_json::nlohmann_json cellar_dep::re2)
cellar_layer(tools/repair   DEPENDS tools/files    LIBS fmt::fmt nlohmann_json::nlohmann_json)
cellar_layer(tools/shell    DEPENDS tools/query    LIBS fmt::fmt cellar_dep::edit cellar_dep::re2)
cellar_layer(tools/trace    DEPENDS tools/store    LIBS fmt::fmt nlohmann_json::nlohmann_json)
cellar_layer(tools/plot     DEPENDS tools/frame    LIBS fmt::fmt nlohmann_json::nlohmann_json)
cellar_layer(tools/simulate DEPENDS tools/frame    LIBS fmt::fmt nlohmann_json::nlohmann_json)
cellar_layer(tools/experiment DEPENDS tools/store tools/plot bench/workload LIBS fmt::fmt nlohmann_json::nlohmann_json)
if(CELLAR_WITH_HBASE)
  cellar_layer(tools/serve DEPENDS tools/store hbase/serve LIBS fmt::fmt)
  # hbase/client makes Engine::open() take names of clusters; no file of the tools includes it.
  set(cellar_tools_hbase_layers tools/serve hbase/client)
endif()
cellar_layer(tools DEPENDS tools/transfer tools/files tools/repair tools/shell tools/plot tools/simulate tools/trace tools/experiment
                   ${cellar_tools_hbase_layers}
             LIBS fmt::fmt EXCLUDE "/main\\.cc$")
# What prints a few lines for people is compiled with -O1: that takes a third less time than -O2.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CELLAR_OPTIMIZE)
  foreach(folder IN ITEMS frame query transfer store hbase shell plot files repair trace experiment)
    target_compile_options(cellar_tools_${folder} PRIVATE -O1)
  endforeach()
endif()
file(GLOB cellar_tool_main CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/main.cc")
if(cellar_tool_main)
  add_executable(cellar_tool ${cellar_tool_main})
  set_target_properties(cellar_tool PROPERTIES OUTPUT_NAME cellar)
  cellar_target(cellar_tool)
  cellar_link_layers(cellar_tool tools)
  target_link_libraries(cellar_tool PRIVATE fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()
