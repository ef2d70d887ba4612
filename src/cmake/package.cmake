# What other projects see of this one, the same three ways in: add_subdirectory, FetchContent and find_package(ock CONFIG).
# Included after the compiler, the emulator and the runtime have their targets.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ock_exported ock_runtime)
foreach(pair IN ITEMS "ockc;ockc" "ock_emulator;emulator")
    list(GET pair 0 target)
    list(GET pair 1 name)
    if(TARGET ${target})
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
        if(NOT TARGET ock::${name})
            get_target_property(type ${target} TYPE)
            if(type STREQUAL "EXECUTABLE")
                add_executable(ock::${name} ALIAS ${target})
            else()
                add_library(ock::${name} ALIAS ${target})
            endif()
        endif()
        list(APPEND ock_exported ${target})
    endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/ock_kernels.cmake)

set(ock_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ock)
install(TARGETS ${ock_exported} EXPORT ockTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${ockc_SOURCE_DIR}/runtime/include/ock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ockTargets NAMESPACE ock:: DESTINATION ${ock_package_dir})
install(FILES
    ${CMAKE_CURRENT_LIST_DIR}/ock_kernels.cmake
    ${CMAKE_CURRENT_LIST_DIR}/ock_golden_test.cmake
    ${CMAKE_CURRENT_LIST_DIR}/ock_emulator_path.cpp.in
    DESTINATION ${ock_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ockConfig.cmake.in
    ${CMAKE_CURRENT_BINARY_DIR}/ockConfig.cmake INSTALL_DESTINATION ${ock_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ockConfigVersion.cmake
    VERSION ${ockc_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ockConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ockConfigVersion.cmake
    DESTINATION ${ock_package_dir})
