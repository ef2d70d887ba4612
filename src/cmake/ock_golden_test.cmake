# Run by the tests of ock_add_golden_test(): compiles SOURCE for TARGET and compares the PTX with GOLDEN, or, with
# OCK_BLESS=1 in the environment, writes GOLDEN.
execute_process(
    COMMAND ${OCKC} ${SOURCE} --emit=ptx=${OUTPUT} --target ${TARGET} ${OPTIONS}
    RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "ockc ended with ${result}:\n${errors}")
endif()
if("$ENV{OCK_BLESS}" STREQUAL "1")
    configure_file(${OUTPUT} ${GOLDEN} COPYONLY)
    message(STATUS "wrote ${GOLDEN}")
    return()
endif()
if(NOT EXISTS ${GOLDEN})
    message(FATAL_ERROR "there is no ${GOLDEN}; run the test with OCK_BLESS=1 to write it")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files --ignore-eol ${OUTPUT} ${GOLDEN} RESULT_VARIABLE differs)
if(differs)
    find_program(diff diff)
    if(diff)
        execute_process(COMMAND ${diff} -u ${GOLDEN} ${OUTPUT})
    endif()
    message(FATAL_ERROR "${GOLDEN} is not what ockc writes now; run the test with OCK_BLESS=1 to accept it")
endif()
