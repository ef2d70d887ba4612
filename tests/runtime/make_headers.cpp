// make_headers DIR: writes the fixtures' headers and manifests, as the compiler's driver would.
#include <cstdio>
#include <string>

#include "fixture.hpp"
#include "host/host.hpp"

namespace {

bool write(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string folder = argv[1];
    const ockc::host::Image vecadd[] = {{"sm_80", fixture::vecadd_ptx(), "vecadd.ptx"}};
    const ockc::host::Image zoo[] = {{"sm_80", fixture::zoo_ptx(), "zoo.sm_80.ptx"},
                                     {"sm_90a", fixture::zoo_ptx(), "zoo.sm_90a.ptx"}};
    const bool done =
        write(folder + "/vecadd.h", ockc::host::emit_header(fixture::vecadd_module(), vecadd)) &&
        write(folder + "/zoo.h", ockc::host::emit_header(fixture::zoo_module(), zoo)) &&
        write(folder + "/vecadd.json", ockc::host::emit_manifest(fixture::vecadd_module(), vecadd));
    return done ? 0 : 1;
}
