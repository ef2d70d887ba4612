# ockc_embed(TARGET SYMBOL BASE_DIR FILES..): text files as byte arrays in one generated .cpp that defines
# `const ockc::EmbeddedFile SYMBOL[]` and `const std::size_t SYMBOL_count` (src/support/embedded.hpp).
function(ockc_embed target symbol base)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    set(full "")
    foreach(file IN LISTS ARGN)
        list(APPEND full ${base}/${file})
    endforeach()
    add_custom_command(OUTPUT ${out}
        COMMAND ockc_embed_tool ${out} ${symbol} ${base} ${ARGN}
        DEPENDS ockc_embed_tool ${full} VERBATIM)
    target_sources(${target} PRIVATE ${out})
    set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

add_executable(ockc_embed_tool ${ockc_SOURCE_DIR}/src/tools/embed_main.cpp)
target_link_libraries(ockc_embed_tool PRIVATE ockc_options)

# ockc_embed_library(TARGET SYMBOL DIR CRATES a=a/lib.rsk.. SOURCES FILES..): the library's image, made by the front end of this
# tree, as `extern "C" const unsigned char SYMBOL_bytes[]` with its end SYMBOL_end.
function(ockc_embed_library target symbol dir)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "CRATES;SOURCES")
    set(image ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.bin)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    list(TRANSFORM arg_SOURCES PREPEND ${dir}/)
    add_custom_command(OUTPUT ${image}
        COMMAND ockc_library_image_tool ${image} ${dir} ${arg_CRATES}
        COMMAND ${CMAKE_COMMAND} -E touch ${image}
        DEPENDS ockc_library_image_tool ${arg_SOURCES} VERBATIM)
    file(CONFIGURE OUTPUT ${out} CONTENT [=[
// The bytes of @image@, put in by the assembler: as an initialiser they would take the compiler seconds.
asm(R"(
    .section .rodata
    .balign 16
    .globl @symbol@_bytes
@symbol@_bytes:
    .incbin "@image@"
    .globl @symbol@_end
@symbol@_end:
    .byte 0
    .text
)");
]=] @ONLY)
    target_sources(${target} PRIVATE ${out})
    set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS ${image} SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
