// Build-time tool: text files in, one C++ file out that holds them as byte arrays (raw string literals have length
// limits). Usage: embed OUT SYMBOL BASE_DIR FILE.. ; each FILE is relative to BASE_DIR and keeps that name.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

void append_array(std::string& out, int index, const std::string& bytes) {
    out += "static const unsigned char file_" + std::to_string(index) + "[] = {";
    for (unsigned char byte : bytes) {
        out += std::to_string(byte);
        out += ',';
    }
    out += "0};\n";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: embed OUT SYMBOL BASE_DIR FILE..\n");
        return 2;
    }
    const std::string symbol = argv[2];
    std::string arrays = "#include \"support/embedded.hpp\"\n";
    std::string table = "namespace ockc {\nextern const EmbeddedFile " + symbol + "[];\nextern const std::size_t " + symbol +
                        "_count;\nconst EmbeddedFile " + symbol + "[] = {\n";
    for (int i = 4; i < argc; ++i) {
        std::ifstream in(std::string(argv[3]) + "/" + argv[i], std::ios::binary);
        if (!in) {
            std::fprintf(stderr, "embed: cannot read %s/%s\n", argv[3], argv[i]);
            return 3;
        }
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        append_array(arrays, i, bytes);
        table += "    {\"" + std::string(argv[i]) + "\", {reinterpret_cast<const char*>(file_" + std::to_string(i) + "), " +
                 std::to_string(bytes.size()) + "}},\n";
    }
    table += "    {{}, {}}};\nconst std::size_t " + symbol + "_count = " + std::to_string(argc - 4) + ";\n}\n";
    std::ofstream out(argv[1], std::ios::binary);
    out << arrays << table;
    return out.good() ? 0 : 3;
}
