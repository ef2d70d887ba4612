# Sources that see the same headers are compiled several at a time where OCKC_UNITY says so: two thirds of a file's compile
# time is the declarations that it includes.
function(ockc_batch_sources target)
    if(OCKC_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
endfunction()

# ockc_floor(NAME SOURCES a.cpp.. [LINKS floor..] [LIBRARIES target..])
# One folder of src as static library ockc_NAME. LINKS is the architecture: the floors whose headers it may include.
function(ockc_floor name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ockc_floor(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    add_library(ockc_${name} STATIC ${arg_SOURCES})
    target_link_libraries(ockc_${name} PUBLIC ${OCKC_FMT} ${arg_LIBRARIES} PRIVATE ockc_options)
    ockc_batch_sources(ockc_${name})
    foreach(floor IN LISTS arg_LINKS)
        target_link_libraries(ockc_${name} PUBLIC ockc_${floor})
    endforeach()
    set_property(GLOBAL APPEND PROPERTY OCKC_FLOORS ${name})
    set_property(GLOBAL PROPERTY OCKC_FLOOR_LINKS_${name} "${arg_LINKS}")
endfunction()

# ockc_unit_test(FLOOR a_test.cpp..): one doctest executable for a floor, run by ctest as unit.FLOOR.
function(ockc_unit_test floor)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINKS")
    add_executable(unit_${floor} ${ockc_SOURCE_DIR}/tests/unit/main.cpp ${arg_SOURCES})
    target_link_libraries(unit_${floor} PRIVATE ockc_options doctest::doctest ockc_${floor})
    foreach(link IN LISTS arg_LINKS)
        target_link_libraries(unit_${floor} PRIVATE ockc_${link})
    endforeach()
    ockc_batch_sources(unit_${floor})
    target_compile_options(unit_${floor} PRIVATE $<$<CONFIG:Release>:-O1>)   # doctest is most of a test, and it runs once
    target_compile_definitions(unit_${floor} PRIVATE OCKC_SOURCE_DIR="${ockc_SOURCE_DIR}")
    add_test(NAME unit.${floor} COMMAND unit_${floor})
endfunction()
