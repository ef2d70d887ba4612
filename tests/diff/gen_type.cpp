// The types of a program.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

bool Type::comparable() const {
    if (kind == Kind::Param) return false;
    for (const TypePtr part : parts) {
        if (!part->comparable()) return false;
    }
    for (const Variant& variant : variants) {
        for (const Field& field : variant.fields) {
            if (!field.type->comparable()) return false;
        }
    }
    return true;
}

TypePtr Generator::make_type(Type type) {
    for (const Type& known : types_) {
        if (known.name == type.name) return &known;
    }
    types_.push_back(std::move(type));
    return &types_.back();
}

void Generator::make_scalars() {
    for (const std::uint32_t bits : {8u, 16u, 32u, 64u, 128u}) {
        for (const bool is_signed : {true, false}) {
            ints_.push_back(make_type({Kind::Int, fmt::format("{}{}", is_signed ? "i" : "u", bits), bits, is_signed, {}, 0, {}}));
        }
    }
    ints_.push_back(make_type({Kind::Int, "isize", 64, true, {}, 0, {}}));
    ints_.push_back(make_type({Kind::Int, "usize", 64, false, {}, 0, {}}));
    scalars_ = ints_;
    for (const std::uint32_t bits : {32u, 64u}) scalars_.push_back(make_type({Kind::Float, fmt::format("f{}", bits), bits, true, {}, 0, {}}));
    scalars_.push_back(make_type({Kind::Bool, "bool", 1, false, {}, 0, {}}));
    scalars_.push_back(make_type({Kind::Char, "char", 32, false, {}, 0, {}}));
}

TypePtr Generator::int_type(std::uint32_t bits, bool is_signed, bool size) const {
    for (const TypePtr type : ints_) {
        if (type->bits == bits && type->is_signed == is_signed && (type->name.back() == 'e') == size) return type;
    }
    return ints_[0];
}

TypePtr Generator::integer() { return random_.pick(ints_); }

// Integers half of the time: they have the most operators.
TypePtr Generator::scalar_type() {
    if (random_.chance(50)) return integer();
    return scalars_[ints_.size() + random_.below(static_cast<std::uint32_t>(scalars_.size() - ints_.size()))];
}

TypePtr Generator::any_type() { return composites_.empty() || random_.chance(60) ? scalar_type() : random_.pick(composites_); }

TypePtr Generator::tuple_of(std::vector<TypePtr> parts) {
    std::string name = "(";
    for (const TypePtr part : parts) name += (name.size() > 1 ? ", " : "") + part->name;
    return make_type({Kind::Tuple, name + ")", 0, false, std::move(parts), 0, {}});
}

TypePtr Generator::array_of(TypePtr element, std::uint32_t length) {
    return make_type({Kind::Array, fmt::format("[{}; {}]", element->name, length), 0, false, {element}, length, {}});
}

TypePtr Generator::option_of(TypePtr type) { return make_type({Kind::Option, fmt::format("Option<{}>", type->name), 0, false, {type}, 0, {}}); }

TypePtr Generator::result_of(TypePtr value, TypePtr error) {
    return make_type({Kind::Result, fmt::format("Result<{}, {}>", value->name, error->name), 0, false, {value, error}, 0, {}});
}

// Tuples, arrays, Options and Results over what the program has so far.
void Generator::make_composites() {
    const auto add = [&](TypePtr type) { composites_.push_back(type); };
    add(tuple_of({scalar_type(), any_type()}));
    add(array_of(scalar_type(), random_.between(1, 6)));
    add(option_of(any_type()));
    add(result_of(any_type(), scalar_type()));
    if (random_.chance(40)) add(tuple_of({any_type(), scalar_type(), any_type()}));
    if (random_.chance(40)) add(array_of(any_type(), random_.between(1, 4)));
    if (random_.chance(30)) add(option_of(random_.pick(composites_)));
}

}  // namespace ockc::difftest
