# What a user of the installed package sees, with one GENERATOR: installs BUILD, builds a copy of PROJECT against it, and
# checks that a no-op build compiles nothing, that a file known only from the depfile rebuilds its kernel alone, that a
# change without effect on the header recompiles no C++, that golden tests bless and compare, and that the installed
# program runs where it has been moved to.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(COPY ${PROJECT}/ DESTINATION ${FOLDER}/project)

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${code}\n${out}${err}")
    endif()
    set(out "${out}${err}" PARENT_SCOPE)
endfunction()

function(build expected_kernels expect_cxx)
    run(${CMAKE_COMMAND} --build ${FOLDER}/build --config Release)
    string(REGEX MATCHALL "Compiling kernels of [a-z]+" kernels "${out}")
    list(TRANSFORM kernels REPLACE "Compiling kernels of " "")
    list(SORT kernels)
    list(REMOVE_DUPLICATES kernels)  # make prints a comment when it starts and ninja when it ends
    if(NOT "${kernels}" STREQUAL "${expected_kernels}")
        message(FATAL_ERROR "expected to compile the kernels `${expected_kernels}`, not `${kernels}`:\n${out}")
    endif()
    string(REGEX MATCH "Building CXX" cxx "${out}")
    if(expect_cxx AND NOT cxx OR NOT expect_cxx AND cxx)
        message(FATAL_ERROR "C++ compiled: expected ${expect_cxx}:\n${out}")
    endif()
endfunction()

# Time stamps of one second must differ.
function(write_later file text)
    execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
    file(WRITE ${FOLDER}/project/${file} "${text}")
endfunction()

function(expect_passed program)
    run(${CMAKE_COMMAND} -E env OCK_DEVICE=emulator OCK_EMULATOR_LIBRARY= ${program})
    if(NOT out MATCHES "PASSED")
        message(FATAL_ERROR "${program} says: ${out}")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${CMAKE_COMMAND} -S ${FOLDER}/project -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${FOLDER}/prefix -DCMAKE_CXX_COMPILER=${CXX})
build("thrice;twice" TRUE)
build("" FALSE)
write_later(factor.rsk "// Two.\npub const FACTOR: f32 = 2.0;\n")
build("twice" FALSE)
build("" FALSE)
write_later(factor.rsk "pub const FACTOR: f32 = 4.0;\n")
build("twice" TRUE)
write_later(factor.rsk "pub const FACTOR: f32 = 2.0;\n")
build("twice" TRUE)
file(GLOB_RECURSE programs ${FOLDER}/build/program ${FOLDER}/build/*/program)
list(FILTER programs INCLUDE REGEX "/program$")
list(GET programs 0 program)
expect_passed(${program})

# A golden that is missing fails, is written when asked, and then holds.
set(golden ${CMAKE_CTEST_COMMAND} --test-dir ${FOLDER}/build -C Release -R golden --output-on-failure)
execute_process(COMMAND ${golden} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(code EQUAL 0)
    message(FATAL_ERROR "a missing golden must fail: ${out}")
endif()
run(${CMAKE_COMMAND} -E env OCK_BLESS=1 ${golden})
run(${golden})
file(APPEND ${FOLDER}/build/twice.golden.ptx "// changed\n")
execute_process(COMMAND ${golden} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(code EQUAL 0 OR NOT out MATCHES "OCK_BLESS=1 to accept")
    message(FATAL_ERROR "a golden that differs must fail and say how to accept: ${out}")
endif()

# Installed beside the package and moved away from where it was built: the emulator is found in ../lib.
run(${CMAKE_COMMAND} --install ${FOLDER}/build --config Release --prefix ${FOLDER}/prefix)
file(RENAME ${FOLDER}/prefix ${FOLDER}/moved)
file(REMOVE_RECURSE ${FOLDER}/build)
expect_passed(${FOLDER}/moved/bin/program)
