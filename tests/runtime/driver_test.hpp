// What the tests against the fake driver share.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "vecadd.h"
#include "zoo.h"

using Kind = ock::ContractErrorKind;
using Calls = std::vector<std::string>;

// Calls of operator new in this program, for the promise that enqueueing makes none.
extern std::size_t allocation_count;

// A fresh driver for each test; the context is made after the test has changed the device.
struct Device {
    Device() { fake_driver()->reset(); }
    FakeDriver& driver = *fake_driver();
};

inline Calls take_calls() {
    Calls calls;
    calls.swap(fake_driver()->calls);
    return calls;
}

template <class Work>
std::optional<ock::Error> error_of(Work&& work) {
    try {
        work();
    } catch (const ock::Error& error) {
        return error;
    }
    return std::nullopt;
}

template <class Work>
std::optional<Kind> kind_of(Work&& work) {
    try {
        work();
    } catch (const ock::LaunchContractError& error) {
        return error.kind();
    }
    return std::nullopt;
}

template <class T>
T value_of(const std::vector<unsigned char>& bytes) {
    REQUIRE(bytes.size() == sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}
