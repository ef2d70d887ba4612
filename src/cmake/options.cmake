# Build options and the compile flags that every target of the project shares.
option(OCKC_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(OCKC_SAMPLES "Build the samples with the ockc of this tree" ${PROJECT_IS_TOP_LEVEL})
option(OCKC_SANITIZE "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(OCKC_UNITY "Compile several sources at a time: fast from nothing, slow after a change" OFF)
option(OCKC_PORTABLE "Header-only fmt and spdlog, static C++ runtime: binaries run on other distributions" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")   # a third of the build time for nothing measurable
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Flags of the compiler's own code; generated launchers and user programs keep theirs.
add_library(ockc_options INTERFACE)
target_compile_options(ockc_options INTERFACE -Wall -Wextra -Werror -fno-rtti)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Position-independent code in which nobody replaces a function: it may be inlined, and is called without the PLT.
    target_compile_options(ockc_options INTERFACE -fno-semantic-interposition)
    # What g++ reports after inlining is about std::string and std::variant of its own library, and false, in 12 and 13.
    target_compile_options(ockc_options INTERFACE -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-array-bounds
        -Wno-maybe-uninitialized -Wno-free-nonheap-object -Wno-dangling-pointer -Wno-nonnull)
endif()
target_include_directories(ockc_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include)
if(OCKC_SANITIZE)
    # vptr needs the run-time type information that the compiler is built without.
    add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
if(OCKC_PORTABLE)
    add_link_options(-static-libstdc++ -static-libgcc)
    set(OCKC_SPDLOG spdlog::spdlog_header_only)
else()
    set(OCKC_SPDLOG spdlog::spdlog)
endif()
