// What a generator may use where: scopes of variables, and borrows that forbid writes or any use.
#pragma once
#include "generator.hpp"

namespace ockc::difftest {

class Generator::Scope {
  public:
    explicit Scope(Generator& g) : g_(g), size_(g.variables_.size()) {}
    ~Scope() { g_.variables_.resize(size_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    Generator& g_;
    std::size_t size_;
};

class Generator::Freeze {
  public:
    explicit Freeze(Generator& g) : g_(g), size_(g.variables_.size()) {
        for (std::size_t i = 0; i < size_; ++i) ++g_.variables_[i].frozen;
    }
    ~Freeze() {
        for (std::size_t i = 0; i < size_; ++i) --g_.variables_[i].frozen;
    }
    Freeze(const Freeze&) = delete;
    Freeze& operator=(const Freeze&) = delete;

  private:
    Generator& g_;
    std::size_t size_;
};

class Generator::Hide {
  public:
    Hide(Generator& g, std::size_t variable) : g_(g), variable_(variable) { ++g_.variables_[variable].hidden; }
    ~Hide() { --g_.variables_[variable_].hidden; }
    Hide(const Hide&) = delete;
    Hide& operator=(const Hide&) = delete;

  private:
    Generator& g_;
    std::size_t variable_;
};

}  // namespace ockc::difftest
