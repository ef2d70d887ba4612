// Regions of the signature: what the body makes one of them outlive must be what the signature says, or implies
// (E0521, E0621, "lifetime may not live long enough").
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

namespace {
std::uint32_t weight(Category category) {
    switch (category) {
        case Category::OpaqueReturn:
        case Category::Return: return 3;
        case Category::Annotation:
        case Category::Cast:
        case Category::CallArgument:
        case Category::Usage:
        case Category::Assignment: return 2;
        case Category::Predicate:
        case Category::Opaque: return 1;
        case Category::Boring: return 0;
    }
    OCKC_UNREACHABLE("category");
}
}  // namespace

// The constraint of a path that says most to the user; of equals the last.
std::uint32_t Checker::blame(const std::vector<std::uint32_t>& path) const {
    std::uint32_t best = path.back();
    for (std::size_t i = path.size(); i-- > 0;) {
        if (weight(regions_.constraint(path[i]).category) > weight(regions_.constraint(best).category)) best = path[i];
    }
    return best;
}

bool Checker::known_to_outlive(RegionVid longer, RegionVid shorter) const {
    std::vector<RegionVid> open{longer};
    std::set<std::uint32_t> seen;
    while (!open.empty()) {
        const RegionVid at = open.back();
        open.pop_back();
        if (at == shorter || at == kStatic) return true;
        if (!seen.insert(at.raw).second) continue;
        for (const auto& [upper, lower] : cx_.known_outlives) {
            if (upper == at) open.push_back(lower);
        }
    }
    return false;
}

void Checker::check_universal_regions() {
    check_type_tests();
    if (cx_.body.is_closure) return check_closure_regions();
    for (const RegionVid longer : regions_.universal()) {
        if (cx_.regions.info(longer).hidden_by.valid()) continue;   // whatever outlives it does
        for (const RegionVid shorter : regions_.universal()) {
            if (longer == shorter || !regions_.outlives_end_of(longer, shorter) || known_to_outlive(longer, shorter)) continue;
            const std::vector<std::uint32_t> path = regions_.find_path(longer, [&](RegionVid at) { return at == shorter; });
            // A chain through a third universal region is reported there.
            bool through_other = path.empty();
            for (const std::uint32_t index : path) {
                const RegionVid middle = regions_.constraint(index).sub;
                through_other = through_other || (middle != shorter && cx_.is_universal(middle) && !known_to_outlive(longer, middle));
            }
            if (through_other) continue;
            report_region_error(longer, shorter, path);
            break;   // the first is enough of one region
        }
    }
}

std::uint32_t Checker::captured_position(RegionVid region) const {
    if (region == kStatic) return kStaticPosition;
    const auto found = std::find(cx_.captured.begin(), cx_.captured.end(), region);
    return found == cx_.captured.end() ? kStaticPosition : static_cast<std::uint32_t>(found - cx_.captured.begin());
}

// A region of the surroundings that is known to outlive one that only a call knows; 'static if there is no other.
RegionVid Checker::external_above(RegionVid region) const {
    if (cx_.regions.info(region).role == RegionRole::External) return region;
    for (const RegionVid external : cx_.captured) {
        const bool is_above = std::find(cx_.known_outlives.begin(), cx_.known_outlives.end(), std::pair(external, region)) != cx_.known_outlives.end();
        if (is_above) return external;
    }
    return kStatic;
}

// What regions of the surroundings need of each other is for these to see to; what only the call lends must not leave it.
void Checker::check_closure_regions() {
    std::set<std::pair<RegionVid, RegionVid>> required;
    for (const RegionVid longer : regions_.universal()) {
        if (longer == kStatic) continue;
        const bool is_external = cx_.regions.info(longer).role == RegionRole::External;
        for (const RegionVid shorter : regions_.universal()) {
            if (longer == shorter || !regions_.outlives_end_of(longer, shorter)) continue;
            if (!(is_external && cx_.regions.info(shorter).role == RegionRole::External) && known_to_outlive(longer, shorter)) continue;
            const std::vector<std::uint32_t> path = regions_.find_path(longer, [&](RegionVid at) { return at == shorter; });
            if (path.empty()) continue;
            if (!is_external) {
                report_closure_escape(longer, shorter, path);
                break;
            }
            const RegionVid needed = external_above(shorter);
            if (needed == longer || !required.emplace(longer, needed).second) continue;
            const Outlives& blamed = regions_.constraint(blame(path));
            cx_.requirements.push_back({captured_position(longer), captured_position(needed), TypeId(), blamed.category, blamed.span});
        }
    }
}

void Checker::report_closure_escape(RegionVid longer, RegionVid shorter, const std::vector<std::uint32_t>& path) {
    const Outlives& blamed = regions_.constraint(blame(path));
    const RegionRole from = cx_.regions.info(longer).role, to = cx_.regions.info(shorter).role;
    const types::TypeData env = cx_.types[cx_.body.locals[LocalId(1)].type];
    const bool is_fn_mut = env.kind == types::TypeKind::Ref && env.mutability == types::Mutability::Mut;
    if (from == RegionRole::Env && blamed.category == Category::Return) {
        Diagnostic& error = is_fn_mut ? sink().error(blamed.span, "captured variable cannot escape `FnMut` closure body")
                                      : sink().error(blamed.span, "lifetime may not live long enough");
        error.labels.clear();
        error.labels.push_back(Label{blamed.span, "returns a reference to a captured variable which escapes the closure body", true});
        if (is_fn_mut) error.note("`FnMut` closures only have access to their captured variables while they are executing...");
        if (is_fn_mut) error.note("...therefore, they cannot allow references to captured variables to escape");
        return;
    }
    if (blamed.category == Category::Return || to != RegionRole::External) {
        Diagnostic& error = sink().error(blamed.span, "lifetime may not live long enough");
        error.labels.clear();
        const bool returns = blamed.category == Category::Return;
        error.labels.push_back(Label{blamed.span, std::string(returns ? "returning this value" : "this") + " requires that `'1` must outlive `'2`", true});
        const LocalId argument = cx_.regions.info(longer).argument;
        if (argument.valid()) error.label(cx_.body.locals[argument].span, "`'1` is the lifetime of a reference in this parameter's type");
        return;
    }
    Diagnostic& error = sink().error(Code::E0521, blamed.span, "borrowed data escapes outside of closure");
    error.labels.clear();
    error.labels.push_back(Label{blamed.span, "borrowed data is only valid in the closure body", true});
}

// ---- generic parameters

// Whether the bounds say that the type outlives the universal region.
bool Checker::known_type_outlives(TypeId type, RegionVid region) const {
    // What a region of a bound must outlive, right or wrong, is told elsewhere.
    const auto is_above = [&](RegionVid bound) {
        return std::any_of(regions_.universal().begin(), regions_.universal().end(),
                           [&](RegionVid end) { return regions_.outlives_end_of(bound, end) && known_to_outlive(end, region); });
    };
    for (const auto& [known, shorter] : cx_.known_type_outlives) {
        if (known == type && is_above(shorter)) return true;
    }
    const types::TypeData data = cx_.types[type];
    if (data.kind != types::TypeKind::Projection) return false;
    for (const check::Predicate& bound : cx_.context.item_bounds(data.def)) {   // `type Assoc: 'static;`
        if (bound.kind == check::Predicate::Kind::TypeOutlives && bound.region == cx_.types.static_region) return true;
    }
    bool all = true;   // what its arguments outlive, it does too
    for (const types::GenericArg arg : cx_.types[data.args]) {
        if (arg.kind() == types::GenericArg::Kind::Region) return false;
        if (arg.kind() != types::GenericArg::Kind::Type) continue;
        types::walk(cx_.types, arg.as_type(), [&](TypeId part) {
            const types::TypeKind kind = cx_.types.kind(part);
            all = all && kind != types::TypeKind::Ref && (kind != types::TypeKind::Param || known_type_outlives(part, region));
            return all;
        });
    }
    return all;
}

void Checker::check_type_tests() {
    std::set<std::tuple<TypeId, RegionVid, std::uint32_t>> told;
    for (const TypeTest& test : cx_.type_tests) {
        const TypeId type = cx_.regions.erase(test.type);
        for (const RegionVid region : regions_.universal()) {
            if (!regions_.outlives_end_of(test.region, region) || known_type_outlives(type, region)) continue;
            if (!told.emplace(type, region, test.reason.span.begin).second) continue;
            if (cx_.body.is_closure) {
                cx_.requirements.push_back({0, captured_position(external_above(region)), type, test.reason.category, test.reason.span});
            } else {
                report_type_test(type, region, test.reason.span);
            }
            break;
        }
    }
}

void Checker::report_type_test(TypeId type, RegionVid region, Span at) {
    const std::string text = cx_.text(type), name(cx_.regions.info(region).name.empty() ? std::string_view("'_") : cx_.regions.info(region).name);
    const bool is_static = region == kStatic;
    const std::string_view what = cx_.types.kind(type) == types::TypeKind::Param ? "parameter type" : "associated type";
    Diagnostic& error = sink().error(is_static ? Code::E0310 : Code::E0309, at, "the " + std::string(what) + " `" + text + "` may not live long enough");
    error.labels.clear();
    error.labels.push_back(Label{at, "...so that the type `" + text + "` will meet its required lifetime bounds", true});
    error.note("the " + std::string(what) + " `" + text + "` must be valid for " + (is_static ? std::string("the static lifetime") : "the lifetime `" + name + "`"));
    error.help("consider adding an explicit lifetime bound: `" + text + ": " + name + "`");
}

// Does a reference that the call only lends go where it stays for ever.
bool Checker::is_escape(const RegionInfo& from, const RegionInfo& to, Category category) const {
    return category == Category::CallArgument && from.role == RegionRole::Local && to.role == RegionRole::External && from.argument.valid();
}

void Checker::report_region_error(RegionVid longer, RegionVid shorter, const std::vector<std::uint32_t>& path) {
    const Outlives& blamed = regions_.constraint(blame(path));
    const RegionInfo& from = cx_.regions.info(longer);
    const RegionInfo& to = cx_.regions.info(shorter);
    const auto name = [](const RegionInfo& info, std::string_view anonymous) {
        return std::string(info.name.empty() ? anonymous : info.name);
    };
    const auto report = [&](Code code, std::string message, std::string label) -> Diagnostic& {
        Diagnostic& error = sink().error(code, blamed.span, std::move(message));
        error.labels.clear();
        error.labels.push_back(Label{blamed.span, std::move(label), true});
        return error;
    };
    if (to.hidden_by.valid()) {
        const hir::Program& program = cx_.context.program();
        const std::string type = cx_.text(to.hidden_by);
        const std::string captured = from.is_named ? "the lifetime `" + std::string(from.name) + "`" : std::string("a lifetime without a name");
        const Span value = regions_.constraint(path.back()).span;   // what is returned, however it came to hold the lifetime
        Diagnostic& error = sink().error(Code::E0700, value, "hidden type for `" + type + "` captures lifetime that does not appear in bounds");
        error.labels.clear();
        error.labels.push_back(Label{value, "the hidden type captures " + captured, true});
        if (from.argument.valid()) error.label(cx_.body.locals[from.argument].span, "the lifetime stands in this type");
        error.note_at(program.defs[cx_.types[to.hidden_by].def].span, "the opaque type is defined here");
        if (from.is_named) error.help("add `" + std::string(from.name) + "` to the `use<...>` bound to explicitly capture it");
        return;
    }
    // A parameter without a name for its lifetime meets a named one: the name is what is missing.
    const bool from_anonymous = !from.is_named && to.is_named, to_anonymous = !to.is_named && from.is_named;
    const RegionInfo& anonymous = from_anonymous ? from : to;
    const RegionInfo& named = from_anonymous ? to : from;
    const bool is_self = anonymous.argument.valid() && cx_.name(cx_.body.locals[anonymous.argument].name) == "self";
    const bool is_static = (from_anonymous ? shorter : longer) == kStatic;
    if ((from_anonymous || to_anonymous) && anonymous.argument.valid() && !is_self && !is_static) {
        const mir::Local& argument = cx_.body.locals[anonymous.argument];
        report(Code::E0621, "explicit lifetime required in the type of " + quoted(cx_, Place{anonymous.argument, {}}),
               "lifetime `" + std::string(named.name) + "` required")
            .help_at(argument.span, "add the lifetime `" + std::string(named.name) + "` to its type");
        return;
    }
    const std::string a = name(from, "'1"), b = name(to, "'2");
    if (is_escape(from, to, blamed.category)) {
        Diagnostic& error = report(Code::E0521, "borrowed data escapes outside of function",
                                   quoted(cx_, Place{from.argument, {}}) + " escapes the function body here");
        error.label(cx_.body.locals[from.argument].span,
                    quoted(cx_, Place{from.argument, {}}) + " is a reference that is only valid in the function body");
        return;
    }
    std::string label;
    switch (blamed.category) {
        case Category::Return:
            label = "function was supposed to return data with lifetime `" + b + "` but it is returning data with lifetime `" + a + "`";
            break;
        case Category::CallArgument: label = "argument requires that `" + a + "` must outlive `" + b + "`"; break;
        case Category::Annotation: label = "type annotation requires that `" + a + "` must outlive `" + b + "`"; break;
        case Category::Cast: label = "cast requires that `" + a + "` must outlive `" + b + "`"; break;
        case Category::Assignment: label = "assignment requires that `" + a + "` must outlive `" + b + "`"; break;
        case Category::OpaqueReturn:
        case Category::Opaque: label = "opaque type requires that `" + a + "` must outlive `" + b + "`"; break;
        case Category::Usage:
        case Category::Predicate:
        case Category::Boring: label = "requires that `" + a + "` must outlive `" + b + "`"; break;
    }
    Diagnostic& error = report(Code::None, "lifetime may not live long enough", label);
    for (const RegionInfo* info : {&from, &to}) {
        if (!info->argument.valid()) continue;
        error.label(cx_.body.locals[info->argument].span,
                    info->name.empty() ? "let's call the lifetime of this reference `" + name(*info, info == &from ? "'1" : "'2") + "`"
                                       : "lifetime `" + std::string(info->name) + "` appears in this type");
    }
    if (shorter != kStatic && from.is_named && to.is_named) {
        error.help("consider adding the following bound: `" + a + ": " + b + "`");
    }
}

}  // namespace ockc::borrowck
