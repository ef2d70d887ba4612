# Kernels as ordinary build targets.
#
#   ock_add_kernels(<target> SOURCES a.rsk b.rsk
#       [ARCHS 80 90a]        numbers of sm_XX; default CMAKE_CUDA_ARCHITECTURES when numeric, else OCK_ARCHS, else 80
#       [CFG NAME NAME="V"]   --cfg
#       [CONST K:B=128 ..]    --const
#       [OPTIONS ..]          passed to ockc as they are
#       [DEPENDS ..])         more files or targets that the kernels depend on
#
# makes a static library whose users write #include "a.h". Each .rsk is compiled once; a no-op build runs nothing, a
# change in any file that a .rsk takes in with `mod` rebuilds that kernel alone, and a change that leaves the header as
# it was recompiles no C++.
#
#   ock_add_golden_test(NAME k SOURCE a.rsk GOLDEN a.ptx [ARCH 80] [OPTIONS ..])
#
# makes a test that compiles a.rsk and compares the PTX with a.ptx; with OCK_BLESS=1 in the environment it writes a.ptx.
include_guard(GLOBAL)

# The compiler to run: OCK_OCKC_EXECUTABLE when set (cross-compiling: one for the build machine), else ock::ockc.
function(_ock_compiler out_command out_depends)
    if(OCK_OCKC_EXECUTABLE)
        set(${out_command} ${OCK_OCKC_EXECUTABLE} PARENT_SCOPE)
        set(${out_depends} ${OCK_OCKC_EXECUTABLE} PARENT_SCOPE)
    elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
        message(FATAL_ERROR "ock: cross-compiling needs an ockc of the build machine: set OCK_OCKC_EXECUTABLE")
    elseif(TARGET ock::ockc)
        set(${out_command} $<TARGET_FILE:ock::ockc> PARENT_SCOPE)
        set(${out_depends} ock::ockc PARENT_SCOPE)
    else()
        message(FATAL_ERROR "ock: there is no target ock::ockc and OCK_OCKC_EXECUTABLE is not set")
    endif()
endfunction()

function(_ock_default_archs out)
    if(CMAKE_CUDA_ARCHITECTURES MATCHES "^[0-9]+a?(;[0-9]+a?)*$")
        set(${out} ${CMAKE_CUDA_ARCHITECTURES} PARENT_SCOPE)
    elseif(OCK_ARCHS)
        set(${out} ${OCK_ARCHS} PARENT_SCOPE)
    else()
        set(${out} 80 PARENT_SCOPE)
    endif()
endfunction()

# One object with the emulator's path, linked into every program of this build that uses kernels. An object and not a
# definition on the consumers: it reaches the program through any number of static libraries.
function(_ock_link_emulator_path target)
    if(NOT TARGET ock::emulator)
        return()
    endif()
    if(NOT TARGET ock_emulator_path)
        set(OCK_EMULATOR_PATH $<TARGET_FILE:ock::emulator>)
        configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ock_emulator_path.cpp.in
            ${CMAKE_BINARY_DIR}/ock_emulator_path/path.cpp.in @ONLY)
        file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/ock_emulator_path/$<CONFIG>/path.cpp
            INPUT ${CMAKE_BINARY_DIR}/ock_emulator_path/path.cpp.in)
        add_library(ock_emulator_path OBJECT ${CMAKE_BINARY_DIR}/ock_emulator_path/$<CONFIG>/path.cpp)
        set_target_properties(ock_emulator_path PROPERTIES POSITION_INDEPENDENT_CODE ON)
        get_target_property(imported ock::emulator IMPORTED)
        if(NOT imported)  # a program that finds the emulator by path needs it built
            add_dependencies(ock_emulator_path ock::emulator)
        endif()
    endif()
    target_link_libraries(${target} INTERFACE $<BUILD_INTERFACE:$<TARGET_OBJECTS:ock_emulator_path>>)
    add_dependencies(${target} ock_emulator_path)
endfunction()

# One .rsk: a command that writes header and PTX, and a source that compiles the header on its own.
function(_ock_add_kernel target source folder options depends)
    _ock_compiler(compiler compiler_depends)
    get_filename_component(stem ${source} NAME_WLE)
    get_filename_component(full ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    set(header ${folder}/${stem}.h)
    set(stamp ${folder}/${stem}.stamp)  # ockc keeps the time of a header that comes out the same; the stamp moves
    add_custom_command(
        OUTPUT ${stamp}
        BYPRODUCTS ${header}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${compiler} ${full} --out-dir ${folder} ${options} -MD -MF ${stamp}.d -MT ${stamp}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${full} ${compiler_depends} ${depends}
        DEPFILE ${stamp}.d
        COMMENT "Compiling kernels of ${stem}.rsk"
        COMMAND_EXPAND_LISTS VERBATIM)
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/${target}.ock/${stem}.cpp)
    file(CONFIGURE OUTPUT ${probe} CONTENT "#include \"${stem}.h\"\n")
    target_sources(${target} PRIVATE ${full} ${stamp} ${header} ${probe})
    set_source_files_properties(${full} PROPERTIES HEADER_FILE_ONLY ON)
endfunction()

function(ock_add_kernels target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;ARCHS;CFG;CONST;OPTIONS;DEPENDS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ock_add_kernels(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "ock_add_kernels(${target}): SOURCES names no .rsk file")
    endif()
    if(NOT arg_ARCHS)
        _ock_default_archs(arg_ARCHS)
    endif()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.ock)
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(multi_config)
        string(APPEND folder /$<CONFIG>)
    endif()
    set(options "")
    foreach(arch IN LISTS arg_ARCHS)
        list(APPEND options --target sm_${arch})
    endforeach()
    foreach(cfg IN LISTS arg_CFG)
        list(APPEND options --cfg ${cfg})
    endforeach()
    foreach(const IN LISTS arg_CONST)
        list(APPEND options --const ${const})
    endforeach()
    list(APPEND options "$<$<CONFIG:Debug,RelWithDebInfo>:-lineinfo>" ${arg_OPTIONS})

    add_library(${target} STATIC)
    set(stems "")
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(stem ${source} NAME_WLE)
        if(stem IN_LIST stems)
            message(FATAL_ERROR "ock_add_kernels(${target}): two sources would write ${stem}.h")
        endif()
        list(APPEND stems ${stem})
        _ock_add_kernel(${target} ${source} ${folder} "${options}" "${arg_DEPENDS}")
    endforeach()
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}> $<INSTALL_INTERFACE:include>)
    target_link_libraries(${target} PUBLIC ock::runtime)
    _ock_link_emulator_path(${target})
endfunction()

function(ock_add_golden_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;SOURCE;GOLDEN;ARCH" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "ock_add_golden_test: unknown arguments ${arg_UNPARSED_ARGUMENTS}")
    endif()
    foreach(needed IN ITEMS NAME SOURCE GOLDEN)
        if(NOT arg_${needed})
            message(FATAL_ERROR "ock_add_golden_test: ${needed} is missing")
        endif()
    endforeach()
    if(NOT arg_ARCH)
        set(arg_ARCH 80)
    endif()
    _ock_compiler(compiler compiler_depends)
    get_filename_component(source ${arg_SOURCE} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    get_filename_component(golden ${arg_GOLDEN} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    add_test(NAME ${arg_NAME}
        COMMAND ${CMAKE_COMMAND}
            -DOCKC=${compiler} -DSOURCE=${source} -DGOLDEN=${golden} -DTARGET=sm_${arg_ARCH}
            "-DOPTIONS=${arg_OPTIONS}" -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.golden.ptx
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ock_golden_test.cmake
        COMMAND_EXPAND_LISTS)
endfunction()
