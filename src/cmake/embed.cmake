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
