// Do a loan and an access touch the same memory.
#pragma once
#include "borrowck/body_cx.hpp"

namespace ockc::borrowck {

// How far an access reaches: the value itself, all that it owns or refers to mutably, or what dropping it may touch.
enum class Depth : std::uint8_t {
    Shallow,       // an assignment, the end of a variable's storage: what the value pointed to lives on
    ShallowFake,   // the fake borrow of a match guard
    Length,        // the length of a slice only
    Deep,
    Drop,
};
// How two index expressions compare: an access must assume that they meet, a kill that they do not.
enum class Bias : std::uint8_t { Overlap, NoOverlap };

bool places_conflict(const BodyCx& cx, const Place& loan, mir::BorrowKind kind, const Place& access, Depth depth, Bias bias);

}  // namespace ockc::borrowck
