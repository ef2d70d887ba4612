// The runtime and the generated headers against a driver that writes down every call (fake_driver.hpp).
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <new>

#include "driver_test.hpp"

std::size_t allocation_count = 0;

void* operator new(std::size_t size) {
    ++allocation_count;
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

int main(int argc, char** argv) {
    setenv("OCK_CUDA_LIBRARY", OCK_FAKE_DRIVER, 1);
    unsetenv("OCK_DEVICE");
    doctest::Context context(argc, argv);
    return context.run();
}
