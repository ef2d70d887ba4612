// Regions of the signature: what the body makes one of them outlive must be what the signature says, or implies
// (E0521, E0621, "lifetime may not live long enough").
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

namespace {
std::uint32_t weight(Category category) {
    switch (category) {
        case Category::Return: return 6;
        case Category::Annotation: return 5;
        case Category::Cast: return 4;
        case Category::CallArgument: return 4;
        case Category::Predicate: return 3;
        case Category::ClosureUpvar: return 2;
        case Category::Assignment: return 1;
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
    if (cx_.body.is_closure) return;   // what a closure needs of its surroundings is theirs to see to
    for (const RegionVid longer : regions_.universal()) {
        for (const RegionVid shorter : regions_.universal()) {
            if (longer == shorter || !regions_.outlives_end_of(longer, shorter) || known_to_outlive(longer, shorter)) continue;
            const std::vector<std::uint32_t> path = regions_.find_path(longer, [&](RegionVid at) { return at == shorter; });
            // A chain through a third universal region is reported there.
            bool through_other = path.empty();
            for (const std::uint32_t index : path) {
                const RegionVid middle = regions_.constraint(index).sub;
                through_other = through_other || (middle != shorter && cx_.is_universal(middle) && !known_to_outlive(longer, middle));
            }
            if (!through_other) report_region_error(longer, shorter, path);
        }
    }
}

void Checker::report_region_error(RegionVid longer, RegionVid shorter, const std::vector<std::uint32_t>& path) {
    const Outlives& blamed = regions_.constraint(blame(path));
    const RegionInfo& from = cx_.regions.info(longer);
    const RegionInfo& to = cx_.regions.info(shorter);
    const auto name = [](const RegionInfo& info, std::string_view anonymous) {
        return info.name.empty() ? std::string(anonymous) : info.name;
    };
    const auto report = [&](Code code, std::string message, std::string label) -> Diagnostic& {
        Diagnostic& error = sink().error(code, blamed.span, std::move(message));
        error.labels.clear();
        error.labels.push_back(Label{blamed.span, std::move(label), true});
        return error;
    };
    // A parameter without a name for its lifetime, where a named one is needed: the name is what is missing.
    const bool is_self = from.argument.valid() && cx_.name(cx_.body.locals[from.argument].name) == "self";
    if (!from.is_named && from.argument.valid() && !is_self && to.is_named && shorter != kStatic) {
        const mir::Local& argument = cx_.body.locals[from.argument];
        report(Code::E0621, "explicit lifetime required in the type of " + quoted(cx_, Place{from.argument, {}}),
               "lifetime `" + to.name + "` required")
            .help_at(argument.span, "add the lifetime `" + to.name + "` to its type");
        return;
    }
    const std::string a = name(from, "'1"), b = name(to, "'2");
    if (shorter == kStatic && blamed.category == Category::CallArgument && from.argument.valid()) {
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
        case Category::ClosureUpvar:
        case Category::Predicate:
        case Category::Boring: label = "requires that `" + a + "` must outlive `" + b + "`"; break;
    }
    Diagnostic& error = report(Code::None, "lifetime may not live long enough", label);
    for (const RegionInfo* info : {&from, &to}) {
        if (!info->argument.valid()) continue;
        error.label(cx_.body.locals[info->argument].span,
                    info->name.empty() ? "let's call the lifetime of this reference `" + name(*info, info == &from ? "'1" : "'2") + "`"
                                       : "lifetime `" + info->name + "` appears in this type");
    }
    if (shorter != kStatic && from.is_named && to.is_named) {
        error.help("consider adding the following bound: `" + a + ": " + b + "`");
    }
}

}  // namespace ockc::borrowck
