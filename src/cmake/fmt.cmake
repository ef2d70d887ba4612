# OCKC_FMT: fmt as the floors link it. Shared C++ libraries cost a process a millisecond at its start, a tenth of a small
# compile, so fmt is built here as one static object where the fmt at hand allows it, and the C++ runtime is linked statically.
if(OCKC_PORTABLE)
    set(OCKC_FMT fmt::fmt-header-only)
else()
    set(OCKC_FMT fmt::fmt)
    get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
    set(fmt_source ${ockc_SOURCE_DIR}/src/tools/fmt_library.cpp)
    set(fmt_probe ${CMAKE_CURRENT_BINARY_DIR}/fmt_probe.cpp)
    file(CONFIGURE OUTPUT ${fmt_probe} CONTENT [[
#include <fmt/format.h>
#include <iterator>
#include <string>
int main(int argc, char**) {
    std::string out = fmt::format("{:>{}} {:.17g} {:g} {:#x}", "x", argc, argc / 3.0, argc / 3.0f, argc);
    fmt::format_to(std::back_inserter(out), "{:04}", argc);
    fmt::print(stderr, "{}", out);
}
]])
    if(NOT DEFINED OCKC_STATIC_FMT AND NOT OCKC_SANITIZE)
        try_compile(OCKC_STATIC_FMT ${CMAKE_CURRENT_BINARY_DIR}/fmt_probe SOURCES ${fmt_probe} ${fmt_source}
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_include}" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
    endif()
    if(OCKC_STATIC_FMT AND NOT OCKC_SANITIZE)
        add_library(ockc_fmt STATIC ${fmt_source})
        target_include_directories(ockc_fmt SYSTEM PUBLIC ${fmt_include})
        target_compile_definitions(ockc_fmt PUBLIC FMT_SHARED)   # declared as in the shared one: objects serve both ways
        set(OCKC_FMT ockc_fmt)
    endif()
endif()
# What a program that is started often is linked with: no shared C++ runtime, and addresses that need no relocation.
function(ockc_quick_start target)
    if(NOT OCKC_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -no-pie)
    endif()
endfunction()
