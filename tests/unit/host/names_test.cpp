#include "host/names.hpp"

#include <doctest/doctest.h>

#include "host/sha256.hpp"

using namespace ockc::host;

TEST_CASE("identifiers that C++ reserves get an underscore") {
    CHECK(cpp_identifier("vecadd") == "vecadd");
    CHECK(cpp_identifier("class") == "class_");
    CHECK(cpp_identifier("co_await") == "co_await_");
    CHECK(cpp_identifier("linux") == "linux_");
    CHECK(cpp_identifier("ock") == "ock_");
    CHECK(cpp_identifier("0") == "_0");
    CHECK(cpp_identifier("gr\xc3\xb6\xc3\x9f"
                         "e") ==
          "gr\xc3\xb6\xc3\x9f"
          "e");
}

TEST_CASE("namespaces from file stems") {
    CHECK(cpp_namespace(file_stem("dir.d/my-kernels.rsk")) == "my_kernels");
    CHECK(cpp_namespace("3d") == "k_3d");
    CHECK(cpp_namespace("std") == "std_");
    CHECK(cpp_namespace("exp") == "exp_");
    CHECK(cpp_namespace("<stdin>") == "stdin_");
    CHECK(file_stem("vecadd.rsk") == "vecadd");
    CHECK(file_stem("a/b/c.tar.rsk") == "c.tar");
    CHECK(file_stem("plain") == "plain");
}

TEST_CASE("template parameters and string literals") {
    CHECK(upper_camel("row_sums") == "RowSums");
    CHECK(upper_camel("a") == "A");
    CHECK(upper_camel("_x") == "X");
    CHECK(cpp_string("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\n\\001\"");
    UniqueNames names("Arg");
    CHECK(names.take("A") == "A");
    CHECK(names.take("A") == "AArg");
    CHECK(names.take("A") == "AArg2");
    names.reserve("B");
    CHECK(names.take("B") == "BArg");
}

TEST_CASE("sha256, the standard's examples and the lengths around a block") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256_hex(std::string(64, 'a')) ==
          "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    CHECK(sha256_hex(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
