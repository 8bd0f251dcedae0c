# Runs PROGRAM and fails unless it succeeds and prints what the file EXPECTED says.
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE printed RESULT_VARIABLE result)
file(READ "${EXPECTED}" expected)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}, having printed:\n${printed}")
elseif(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} printed:\n${printed}\n${EXPECTED} says:\n${expected}")
endif()
