# Libraries that ship no CMake files. Used by the build, and by an installed Cellar that is linked statically.

# cellar_find(<name> <header> <library> <package> [OPTIONAL]): an imported target, cellar_dep::<name>. A library that
# is not found ends the configuration; an optional one becomes a target that adds nothing; and where the caller has set
# cellar_find_softly, a sentence is added to cellar_missing.
function(cellar_find name header library package)
  cmake_parse_arguments(PARSE_ARGV 4 find "OPTIONAL" "" "")
  set_property(GLOBAL PROPERTY CELLAR_FIND_cellar_dep::${name} "${name} ${header} ${library} ${package}")
  if(TARGET cellar_dep::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  find_path(CELLAR_${upper}_INCLUDE ${header})
  find_library(CELLAR_${upper}_LIBRARY ${library})
  mark_as_advanced(CELLAR_${upper}_INCLUDE CELLAR_${upper}_LIBRARY)
  if(CELLAR_${upper}_INCLUDE AND CELLAR_${upper}_LIBRARY)
    add_library(cellar_dep::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(cellar_dep::${name} PROPERTIES
      IMPORTED_LOCATION "${CELLAR_${upper}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CELLAR_${upper}_INCLUDE}")
    if(find_OPTIONAL)
      set_target_properties(cellar_dep::${name} PROPERTIES INTERFACE_COMPILE_DEFINITIONS CELLAR_WITH_${upper}=1)
    endif()
  elseif(find_OPTIONAL)
    add_library(cellar_dep::${name} INTERFACE IMPORTED GLOBAL)
  elseif(cellar_find_softly)
    set(cellar_missing "${cellar_missing}${library} was not found: install the package ${package}. " PARENT_SCOPE)
  else()
    message(FATAL_ERROR "${library} was not found: install the package ${package}, or run ./dev build, which does")
  endif()
endfunction()

# cellar_find_headers(<name> <header> <package>): the same for a library that is headers alone.
function(cellar_find_headers name header package)
  string(TOUPPER ${name} upper)
  find_path(CELLAR_${upper}_INCLUDE ${header})
  mark_as_advanced(CELLAR_${upper}_INCLUDE)
  if(NOT CELLAR_${upper}_INCLUDE)
    message(FATAL_ERROR "${header} was not found: install the package ${package}, or run ./dev build, which does")
  endif()
  add_library(cellar_dep_${name} INTERFACE)
  target_include_directories(cellar_dep_${name} SYSTEM INTERFACE "${CELLAR_${upper}_INCLUDE}")
endfunction()
