// Loops: each has a bound, and the body's cost is multiplied by it.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

// The label text before the loop, or nothing; statements inside count `iterations` times.
std::string Generator::loop_open(std::uint32_t iterations, bool labeled) {
    const std::string label = fresh("'l");
    repeat_ *= iterations;
    if (labeled) frames_.back().labels.push_back({label, nullptr, true});
    return labeled ? label + ": " : "";
}

bool Generator::stmtWhile(std::uint32_t depth) {
    if (repeat_ > 16) return false;
    const Scope scope(*this);
    const std::string counter = fresh("n");
    const std::uint32_t bound = random_.between(1, 5);
    line(fmt::format("let mut {} = 0u32;", counter));
    declare(counter, int_type(32, false), false);
    const std::string condition = random_.chance(50) ? " && " + boolean(depth) : "";
    const std::string label = loop_open(bound, true);
    line(fmt::format("{}while {} < {}u32{} {{", label, counter, bound, condition));
    line(fmt::format("    {} += 1u32;", counter));
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= bound;
    return true;
}

bool Generator::stmtWhileLet(std::uint32_t depth) {
    if (repeat_ > 16) return false;
    const Scope scope(*this);
    const std::string counter = fresh("n");
    const std::uint32_t bound = random_.between(1, 4);
    const TypePtr type = random_.pick(composites_);
    line(fmt::format("let mut {} = 0u32;", counter));
    repeat_ *= bound;   // the value is computed every round; a `continue` in it would skip the counter
    const std::string value = expr(type, depth).text;
    repeat_ /= bound;
    const std::string label = loop_open(bound, true);
    Bindings bindings;
    const std::string tested = pattern(type, 2, true, false, &bindings);
    declare(bindings);
    line(fmt::format("{}while let ({}, 0..{}) = ({}, {}) {{", label, tested, bound, value, counter));
    line(fmt::format("    {} += 1u32;", counter));
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= bound;
    return true;
}

bool Generator::stmtLoop(std::uint32_t depth) {
    if (repeat_ > 16) return false;
    const Scope scope(*this);
    const std::string counter = fresh("n");
    const std::uint32_t bound = random_.between(1, 4);
    line(fmt::format("let mut {} = 0u32;", counter));
    declare(counter, int_type(32, false), false);
    const std::string label = loop_open(bound, true);
    line(label + "loop {");
    line(fmt::format("    {} += 1u32;", counter));
    line(fmt::format("    if {} > {}u32 {{ break; }}", counter, bound));
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= bound;
    return true;
}

// `for i in low dots high`, with a small number of rounds. Bounds near the end of the type now and then.
bool Generator::for_range(std::uint32_t depth, std::uint32_t most, std::uint32_t beyond, std::string_view dots) {
    if (repeat_ > 16) return false;
    const TypePtr type = integer();
    const std::uint32_t bound = random_.between(1, most);
    const Scope scope(*this);
    const std::string name = fresh("i");
    std::string low = fmt::format("{}{}", random_.below(4), type->name), high = fmt::format("({} % {} + {})", dynamic(type).text, bound, beyond);
    if (random_.chance(30)) {
        high = type->name + "::MAX";
        low = fmt::format("{}::MAX - {}", type->name, bound);
    }
    const std::string label = loop_open(bound + 4, true);
    line(fmt::format("{}for {} in {}{}{} {{", label, name, low, dots, high));
    declare(name, type, false);
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= bound + 4;
    return true;
}

bool Generator::stmtForRange(std::uint32_t depth) { return for_range(depth, 6, 4, ".."); }

bool Generator::stmtForInclusive(std::uint32_t depth) { return for_range(depth, 4, 3, "..="); }

namespace {

constexpr std::uint32_t kSliceLength = 6;   // the longest array

}  // namespace

bool Generator::stmtForArrayRef(std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(nullptr, false);
    if (repeat_ > 16 || !found) return false;
    const Variable array = variables_[*found];
    if (array.type->length == 0 || array.type->name.find(';') == std::string::npos) return false;
    const Freeze freeze(*this);
    const Scope scope(*this);
    const std::string name = fresh("e");
    const bool by_pattern = random_.chance(40);
    const std::string label = loop_open(kSliceLength, true);
    line(fmt::format("{}for {}{} in &{} {{", label, by_pattern ? "&" : "", name, array.text));
    declare(by_pattern ? name : "(*" + name + ")", array.type->parts[0], false);
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= kSliceLength;
    return true;
}

bool Generator::stmtForIter(std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(nullptr, false);
    if (repeat_ > 16 || !found) return false;
    const Variable array = variables_[*found];
    const Freeze freeze(*this);
    const Scope scope(*this);
    const std::string name = fresh("e");
    const std::string label = loop_open(kSliceLength, true);
    line(fmt::format("{}for {} in {}.iter() {{", label, name, array.text));
    declare("(*" + name + ")", array.type->parts[0], false);
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= kSliceLength;
    return true;
}

bool Generator::stmtForIterMut(std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(nullptr, true);
    if (repeat_ > 16 || !found) return false;
    const Variable array = variables_[*found];
    variables_[*found].known = true;
    const Hide hide(*this, *found);
    const Scope scope(*this);
    const std::string name = fresh("e");
    const std::string label = loop_open(kSliceLength, true);
    line(fmt::format("{}for {} in {}.iter_mut() {{", label, name, array.text));
    declare("(*" + name + ")", array.type->parts[0], true);
    ++indent_;
    line(fmt::format("*{} = {};", name, expr(array.type->parts[0], depth).text));
    --indent_;
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= kSliceLength;
    return true;
}

bool Generator::stmtForArray(std::uint32_t depth) {
    if (repeat_ > 16) return false;
    const TypePtr element = any_type(), type = array_of(element, random_.between(1, 4));
    const std::string value = expr(type, depth).text;
    const Scope scope(*this);
    const std::string name = fresh("e");
    const std::string label = loop_open(kSliceLength, true);
    line(fmt::format("{}for {} in {} {{", label, name, value));
    declare(name, element, false);
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= kSliceLength;
    return true;
}

bool Generator::stmtForAdaptor(std::uint32_t depth) {
    if (repeat_ > 8) return false;
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return false;
    const Scope scope(*this);
    const std::string name = fresh("e");
    const std::string label = loop_open(items->most + 1, true);
    line(fmt::format("{}for {} in {} {{", label, name, items->text));
    declare(name, items->item, false);
    body(depth);
    line("}");
    frames_.back().labels.pop_back();
    repeat_ /= items->most + 1;
    return true;
}

}  // namespace ockc::difftest
