#include <doctest/doctest.h>

#include "hir/hir.hpp"
#include "hir/print.hpp"

namespace ockc::hir {

namespace {

struct Small {
    Interner names;
    Program program{names};

    Small() {
        for (const auto& [name, library] : {std::pair("core", true), std::pair("user", false)}) {
            Crate& crate = program.crates.emplace_back();
            crate.name = names.intern(name);
            crate.is_library = library;
            crate.root = add(DefKind::Mod, name, {});
        }
    }
    DefId add(DefKind kind, std::string_view name, DefId parent) {
        Def def;
        def.kind = kind;
        if (!name.empty()) def.name.name = names.intern(name);
        def.parent = parent;
        def.crate = parent.valid() ? program.defs[parent].crate : static_cast<std::uint32_t>(program.crates.size() - 1);
        return program.defs.push(std::move(def));
    }
};

}  // namespace

TEST_CASE("paths are shown with the crate for libraries only") {
    Small s;
    const DefId option = s.add(DefKind::Mod, "option", s.program.crates[0].root);
    const DefId type = s.add(DefKind::Enum, "Option", option);
    const DefId some = s.add(DefKind::Variant, "Some", type);
    const DefId ctor = s.add(DefKind::Ctor, "Some", some);
    CHECK(s.program.path_text(some) == "core::option::Option::Some");
    CHECK(s.program.path_text(ctor) == "core::option::Option::Some");
    const DefId module = s.add(DefKind::Mod, "kernels", s.program.crates[1].root);
    const DefId impl = s.add(DefKind::Impl, "", module);
    const DefId method = s.add(DefKind::AssocFn, "run", impl);
    CHECK(s.program.path_text(module) == "kernels");
    CHECK(s.program.path_text(method) == "kernels::{impl}::run");
    CHECK(s.program.path_text(s.program.crates[1].root) == "user");
}

TEST_CASE("definition kinds are called as rustc calls them") {
    CHECK(def_kind_text(DefKind::TyAlias) == "type alias");
    CHECK(def_kind_text(DefKind::AssocFn) == "associated function");
    CHECK(def_kind_text(DefKind::Mod) == "module");
}

TEST_CASE("what is not lowered is not printed") {
    Small s;
    const DefId root = s.program.crates[1].root;
    const DefId constant = s.add(DefKind::Const, "N", root);
    TyId type = s.program.types.push(Ty{{}, TupleTy{}});
    s.program.defs[constant].data = ConstDef{{}, type, {}};
    s.program.defs[root].data = ModDef{s.program.arena.copy(std::span<const DefId>(&constant, 1))};
    s.program.defs[root].lowered = true;
    CHECK(print(s.program) == "");
    s.program.defs[constant].lowered = true;
    CHECK(print(s.program) == "const N: ();\n");
}

}  // namespace ockc::hir
