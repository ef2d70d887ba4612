// What closures capture, and how: each use of an outer variable inside a closure is a place and a mode (read, mutate, move).
// Places are cut where the rules say (moves at the first dereference, reads behind a shared reference, indexes), and a place
// absorbs the places inside it; the strongest use makes the closure Fn, FnMut or FnOnce.
#include <algorithm>

#include "check/body.hpp"

namespace ockc::check {

class CaptureAnalysis {
  public:
    explicit CaptureAnalysis(BodyChecker& body) : b_(body), types_(body.types_) {}

    void run() {
        for (DefId def : b_.closure_order_) {
            current_ = def;
            uses_.clear();
            BodyChecker::ClosureState& state = b_.closures_.at(def);
            consume(state.body);
            settle(state);
        }
    }

  private:
    struct Step {
        enum class Kind : std::uint8_t { Deref, Field, Index, Opaque } kind = Kind::Deref;
        std::uint32_t field = 0;
        TypeId before, after;
    };
    struct Place {
        bool is_local = false;
        LocalId local;
        std::vector<Step> steps;
        TypeId type;
    };
    struct Use {
        Place place;
        CaptureKind kind;
        Span span;
    };

    TypeId known(TypeId type) { return type.valid() ? b_.infer_.resolve(type) : b_.types_.error; }
    bool is_copy(TypeId type) { return types_.has(type, types::kHasInfer) ? true : b_.cx_.is_copy(types_.erase_regions(type), b_.env_); }

    // Is the variable declared outside the closure at hand?
    bool is_outer(LocalId local) const {
        const auto found = b_.local_closure_.find(local);
        if (found == b_.local_closure_.end()) return true;
        for (DefId at = found->second; at.valid(); at = enclosing_closure(at)) {
            if (at == current_) return false;
        }
        return true;
    }
    DefId enclosing_closure(DefId closure) const {
        const DefId parent = b_.program_.defs[closure].parent;
        return parent.valid() && b_.program_.defs[parent].kind == hir::DefKind::Closure ? parent : DefId();
    }

    void use(const Place& place, CaptureKind kind, Span at) {
        if (place.is_local && is_outer(place.local)) uses_.push_back({place, kind, at});
    }

    // ---- places
    static Place value(TypeId type) {
        Place place;
        place.type = type;
        return place;
    }
    Place step(Place place, Step::Kind kind, TypeId type, std::uint32_t field = 0) {
        place.steps.push_back({kind, field, place.type, type});
        place.type = type;
        return place;
    }

    Place place_of(ExprId id) {
        Place place = bare_place(id);
        if (const auto found = b_.adjustments_.find(id); found != b_.adjustments_.end()) {
            for (const Adjustment& adjustment : found->second) place = adjusted(std::move(place), adjustment);
        }
        return place;
    }
    Place adjusted(Place place, const Adjustment& adjustment) {
        const TypeId target = known(adjustment.target);
        if (adjustment.kind == AdjustKind::Deref) return step(std::move(place), Step::Kind::Deref, target);
        return value(target);
    }

    Place bare_place(ExprId id) {
        const TypeId type = known(b_.tables_.expr_types[id]);
        const hir::Expr& e = b_.expr(id);
        if (const auto* path = std::get_if<hir::PathExpr>(&e.data)) {
            if (path->path->kind == hir::QPath::Kind::Resolved && path->path->path.res.kind == hir::Res::Kind::Local) {
                Place place;
                place.is_local = true;
                place.local = path->path->path.res.local;
                place.type = type;
                return place;
            }
            return value(type);
        }
        if (b_.tables_.callees[id].valid()) return value(type);   // overloaded: what the function returns
        if (const auto* field = std::get_if<hir::FieldExpr>(&e.data)) return step(place_of(field->base), Step::Kind::Field, type, b_.tables_.fields[id]);
        if (const auto* index = std::get_if<hir::IndexExpr>(&e.data)) return step(place_of(index->base), Step::Kind::Index, type);
        if (const auto* unary = std::get_if<hir::UnaryExpr>(&e.data); unary != nullptr && unary->op == hir::UnaryOp::Deref) {
            return step(place_of(unary->operand), Step::Kind::Deref, type);
        }
        return value(type);
    }

    // ---- walking
    // An element is moved out of what is only borrowed, as by a call of `index`.
    void consume_place(const Place& place, Span at) {
        const bool is_element = std::any_of(place.steps.begin(), place.steps.end(), [](const Step& s) { return s.kind == Step::Kind::Index; });
        use(place, is_copy(place.type) || is_element ? CaptureKind::ByRef : CaptureKind::ByValue, at);
    }
    void consume(ExprId id) {
        if (!id.valid()) return;
        consume_place(place_of(id), b_.span(id));
        walk(id);
    }
    void borrow(ExprId id, CaptureKind kind) {
        use(place_of(id), kind, b_.span(id));
        walk(id);
    }
    void consume_all(hir::List<ExprId> list) {
        for (ExprId id : list) consume(id);
    }

    void walk_adjustments(ExprId id) {
        const auto found = b_.adjustments_.find(id);
        if (found == b_.adjustments_.end()) return;
        Place place = bare_place(id);
        for (const Adjustment& adjustment : found->second) {
            switch (adjustment.kind) {
                case AdjustKind::Deref: break;
                case AdjustKind::OverloadedDeref:
                case AdjustKind::Borrow:
                case AdjustKind::RawBorrow:
                    use(place, adjustment.mutability == Mutability::Mut ? CaptureKind::ByMutRef : CaptureKind::ByRef, b_.span(id));
                    break;
                case AdjustKind::NeverToAny:
                case AdjustKind::MutToConst:
                case AdjustKind::Unsize:
                case AdjustKind::ReifyFn:
                case AdjustKind::ClosureToFnPtr:
                case AdjustKind::UnsafeFnPtr: consume_place(place, b_.span(id)); break;
            }
            place = adjusted(std::move(place), adjustment);
        }
    }

    void walk_block(BlockId id) {
        const hir::Block& block = b_.body_.blocks[id];
        for (const hir::Stmt& stmt : block.stmts) {
            if (stmt.kind == hir::Stmt::Kind::Let) {
                if (stmt.init.valid()) {
                    walk(stmt.init);
                    walk_pattern(place_of(stmt.init), stmt.pat, stmt.else_block.valid());
                }
                if (stmt.else_block.valid()) walk_block(stmt.else_block);
            } else if (stmt.expr.valid()) {
                consume(stmt.expr);
            }
        }
        consume(block.tail);
    }

    void walk(ExprId id) {
        if (!id.valid()) return;
        walk_adjustments(id);
        const bool overloaded = b_.tables_.callees[id].valid();
        std::visit(ast::Overloaded{
                       [](std::monostate) {},
                       [](const hir::LiteralExpr&) {},
                       [](const hir::PathExpr&) {},
                       [](const hir::ErrorExpr&) {},
                       [](const hir::ConstBlockExpr&) {},
                       [](const hir::ContinueExpr&) {},
                       [&](const hir::UnaryExpr& e) {
                           if (e.op == hir::UnaryOp::Deref && !overloaded) return walk(e.operand);
                           consume(e.operand);
                       },
                       [&](const hir::BinaryExpr& e) {
                           consume(e.lhs);
                           consume(e.rhs);
                       },
                       [&](const hir::AssignExpr& e) {
                           borrow(e.lhs, CaptureKind::ByMutRef);
                           consume(e.rhs);
                       },
                       [&](const hir::AssignOpExpr& e) {
                           if (overloaded) {
                               consume(e.lhs);
                           } else {
                               borrow(e.lhs, CaptureKind::ByMutRef);
                           }
                           consume(e.rhs);
                       },
                       [&](const hir::AddressOfExpr& e) { borrow(e.operand, e.mutability == Mutability::Mut ? CaptureKind::ByMutRef : CaptureKind::ByRef); },
                       [&](const hir::FieldExpr& e) { walk(e.base); },
                       [&](const hir::IndexExpr& e) {
                           if (overloaded) {
                               consume(e.base);
                           } else {
                               walk(e.base);
                           }
                           consume(e.index);
                       },
                       [&](const hir::CallExpr& e) {
                           consume(e.callee);
                           consume_all(e.args);
                       },
                       [&](const hir::MethodCallExpr& e) {
                           consume(e.receiver);
                           consume_all(e.args);
                       },
                       [&](const hir::TupleExpr& e) { consume_all(e.elements); },
                       [&](const hir::ArrayExpr& e) { consume_all(e.elements); },
                       [&](const hir::RepeatExpr& e) { consume(e.value); },
                       [&](const hir::StructExpr& e) {
                           for (const hir::FieldInit& field : e.fields) consume(field.value);
                           consume(e.base);
                       },
                       [&](const hir::CastExpr& e) { consume(e.operand); },
                       [&](const hir::LetExpr& e) {
                           walk(e.init);
                           walk_pattern(place_of(e.init), e.pat, true);
                       },
                       [&](const hir::IfExpr& e) {
                           consume(e.condition);
                           consume(e.then_expr);
                           consume(e.else_expr);
                       },
                       [&](const hir::MatchExpr& e) {
                           walk(e.scrutinee);
                           const Place place = place_of(e.scrutinee);
                           for (const hir::Arm& arm : e.arms) walk_pattern(place, arm.pat, e.arms.size() > 1);
                           for (const hir::Arm& arm : e.arms) {
                               consume(arm.guard);
                               consume(arm.body);
                           }
                       },
                       [&](const hir::LoopExpr& e) { walk_block(e.body); },
                       [&](const hir::BlockExpr& e) { walk_block(e.block); },
                       [&](const hir::BreakExpr& e) { consume(e.value); },
                       [&](const hir::ReturnExpr& e) { consume(e.value); },
                       [&](const hir::ClosureExpr& e) { walk_closure(e); },
                       [&](const hir::PanicExpr& e) {
                           for (ExprId arg : e.args) borrow(arg, CaptureKind::ByRef);
                       },
                   },
                   b_.expr(id).data);
    }

    // An inner closure uses what it captures.
    void walk_closure(const hir::ClosureExpr& e) {
        const auto found = b_.closures_.find(e.def);
        if (found == b_.closures_.end()) return;
        for (const Capture& capture : found->second.info->captures) {
            Place place;
            place.is_local = true;
            place.local = capture.local;
            place.type = known(b_.tables_.local_types[capture.local]);
            for (const CaptureProjection& p : capture.projections) {
                place = step(std::move(place), p.kind == CaptureProjection::Kind::Deref ? Step::Kind::Deref : Step::Kind::Field, known(p.type), p.field);
            }
            if (capture.kind == CaptureKind::ByValue) {
                consume_place(place, capture.use_span);
            } else {
                use(place, capture.kind, capture.use_span);
            }
        }
    }

    // Bindings take parts of the matched place; patterns that can fail read it.
    void walk_pattern(Place place, PatId id, bool refutable) {
        if (const auto found = b_.pat_derefs_.find(id); found != b_.pat_derefs_.end()) {
            for (std::size_t i = 0; i < found->second.size(); ++i) {
                const TypeId reference = known(found->second[i]);
                place = step(std::move(place), Step::Kind::Deref, types_[reference].element);
            }
        }
        const Span at = b_.pat(id).span;
        const auto parts = [&](hir::List<PatId> list, std::uint32_t rest, std::size_t total) {
            for (std::size_t i = 0; i < list.size(); ++i) {
                const std::size_t field = i >= rest ? i + total - list.size() : i;
                const TypeId type = known(b_.tables_.pat_types[list[i]]);
                walk_pattern(part(place, type, static_cast<std::uint32_t>(field)), list[i], refutable);
            }
        };
        std::visit(ast::Overloaded{
                       [](std::monostate) {},
                       [](const hir::WildPat&) {},
                       [](const hir::ErrorPat&) {},
                       [&](const hir::BindingPat& p) {
                           switch (b_.tables_.bind_modes[id]) {
                               case BindMode::Value: consume_place(place, at); break;
                               case BindMode::Ref: use(place, CaptureKind::ByRef, at); break;
                               case BindMode::RefMut: use(place, CaptureKind::ByMutRef, at); break;
                           }
                           if (p.sub.valid()) walk_pattern(place, p.sub, refutable);
                       },
                       [&](const hir::LiteralPat&) { use(place, CaptureKind::ByRef, at); },
                       [&](const hir::RangePat&) { use(place, CaptureKind::ByRef, at); },
                       [&](const hir::ConstBlockPat&) { use(place, CaptureKind::ByRef, at); },
                       [&](const hir::PathPat&) { use(place, CaptureKind::ByRef, at); },
                       [&](const hir::RefPat& p) { walk_pattern(step(place, Step::Kind::Deref, types_[place.type].kind == TypeKind::Ref ? types_[place.type].element : types_.error), p.inner, refutable); },
                       [&](const hir::TuplePat& p) {
                           const TypeData data = types_[place.type];
                           parts(p.elements, p.rest, data.kind == TypeKind::Tuple ? types_[data.elements].size() : p.elements.size());
                       },
                       [&](const hir::TupleStructPat& p) {
                           if (read_variant(place)) use(place, CaptureKind::ByRef, at);
                           const ItemRef item = b_.tables_.pat_items[id];
                           parts(p.elements, p.rest, item.valid() ? field_count(item.def) : p.elements.size());
                       },
                       [&](const hir::StructPat& p) {
                           if (read_variant(place)) use(place, CaptureKind::ByRef, at);
                           const auto indices = b_.tables_.field_indices(id);
                           for (std::size_t i = 0; i < p.fields.size(); ++i) {
                               const TypeId type = known(b_.tables_.pat_types[p.fields[i].pat]);
                               walk_pattern(part(place, type, i < indices.size() ? indices[i] : 0), p.fields[i].pat, refutable);
                           }
                       },
                       [&](const hir::SlicePat& p) {
                           use(place, CaptureKind::ByRef, at);
                           const auto inner = [&](PatId sub) { walk_pattern(step(place, Step::Kind::Opaque, known(b_.tables_.pat_types[sub])), sub, refutable); };
                           for (PatId sub : p.before) inner(sub);
                           if (p.middle.valid()) inner(p.middle);
                           for (PatId sub : p.after) inner(sub);
                       },
                       [&](const hir::OrPat& p) {
                           for (PatId sub : p.alternatives) walk_pattern(place, sub, true);
                       },
                   },
                   b_.pat(id).data);
    }

    // A part of a tuple or struct; parts of an enum with several variants are the enum as a whole.
    Place part(const Place& place, TypeId type, std::uint32_t field) {
        if (read_variant(place)) return step(place, Step::Kind::Opaque, type);
        return step(place, Step::Kind::Field, type, field);
    }
    bool read_variant(const Place& place) {
        const TypeData data = types_[place.type];
        return data.kind == TypeKind::Adt && b_.cx_.adt(data.def).kind == AdtInfo::Kind::Enum && b_.cx_.adt(data.def).variants.size() > 1;
    }
    std::size_t field_count(DefId variant) {
        const hir::Def& def = b_.program_.defs[variant];
        const DefId adt = def.kind == hir::DefKind::Variant ? def.parent : variant;
        const AdtInfo& info = b_.cx_.adt(adt);
        return info.variants[info.variant_index(variant)].fields.size();
    }

    // ---- from uses to captures
    void cut(Place& place, std::size_t length) {
        if (length >= place.steps.size()) return;
        place.type = place.steps[length].before;
        place.steps.resize(length);
    }

    void truncate(Use& use, bool is_move) {
        Place& place = use.place;
        for (std::size_t i = 0; i < place.steps.size(); ++i) {
            const Step& s = place.steps[i];
            const TypeData before = types_[s.before];
            const bool raw = s.kind == Step::Kind::Deref && before.kind == TypeKind::RawPtr;
            const bool packed = s.kind == Step::Kind::Field && before.kind == TypeKind::Adt &&
                                (b_.cx_.adt(before.def).kind == AdtInfo::Kind::Union || b_.cx_.adt(before.def).repr.pack != 0);
            if (s.kind == Step::Kind::Index || s.kind == Step::Kind::Opaque || raw || packed) {
                cut(place, i);
                break;
            }
        }
        if (is_move || use.kind == CaptureKind::ByValue) {
            for (std::size_t i = 0; i < place.steps.size(); ++i) {
                if (place.steps[i].kind == Step::Kind::Deref) {
                    cut(place, i);
                    break;
                }
            }
            if (is_move) use.kind = CaptureKind::ByValue;
            // A part of a value with a destructor cannot be moved out of it; what is copied can.
            if (is_copy(place.type)) return;
            for (std::size_t i = 0; i < place.steps.size(); ++i) {
                if (types_.kind(place.steps[i].before) == TypeKind::Adt && b_.cx_.drop_impl(place.steps[i].before).valid()) {
                    cut(place, i);
                    break;
                }
            }
            return;
        }
        for (std::size_t i = place.steps.size(); i-- > 0;) {
            if (place.steps[i].kind != Step::Kind::Deref) continue;
            const TypeData before = types_[place.steps[i].before];
            if (before.kind == TypeKind::Ref && before.mutability == Mutability::Not) cut(place, i + 1);
            break;
        }
    }

    static bool is_prefix(const Place& shorter, const Place& longer) {
        if (shorter.local != longer.local || shorter.steps.size() > longer.steps.size()) return false;
        for (std::size_t i = 0; i < shorter.steps.size(); ++i) {
            if (shorter.steps[i].kind != longer.steps[i].kind || shorter.steps[i].field != longer.steps[i].field) return false;
        }
        return true;
    }
    // ByRef < ByMutRef < ByValue.
    static int strength(CaptureKind kind) { return kind == CaptureKind::ByRef ? 0 : kind == CaptureKind::ByMutRef ? 1 : 2; }

    void settle(BodyChecker::ClosureState& state) {
        ClosureKind kind = ClosureKind::Fn;
        std::vector<Use> merged;
        for (Use& use : uses_) {
            if (use.kind == CaptureKind::ByValue) kind = ClosureKind::FnOnce;
            if (use.kind == CaptureKind::ByMutRef && kind == ClosureKind::Fn) kind = ClosureKind::FnMut;
            truncate(use, state.info->is_move);
            bool absorbed = false;
            for (Use& have : merged) {
                if (!is_prefix(have.place, use.place)) continue;
                if (strength(use.kind) > strength(have.kind)) {
                    have.kind = use.kind;
                    have.span = use.span;
                }
                absorbed = true;
                break;
            }
            if (absorbed) continue;
            // The new place may hold several of the old ones.
            auto first = std::find_if(merged.begin(), merged.end(), [&](const Use& have) { return is_prefix(use.place, have.place); });
            if (first == merged.end()) {
                merged.push_back(use);
                continue;
            }
            for (const Use& have : merged) {
                if (is_prefix(use.place, have.place) && strength(have.kind) > strength(use.kind)) use.kind = have.kind;
            }
            const auto at = first - merged.begin();
            std::erase_if(merged, [&](const Use& have) { return is_prefix(use.place, have.place); });
            merged.insert(merged.begin() + at, use);
        }
        for (const Use& use : merged) {
            Capture capture;
            capture.local = use.place.local;
            for (const Step& s : use.place.steps) {
                capture.projections.push_back({s.kind == Step::Kind::Deref ? CaptureProjection::Kind::Deref : CaptureProjection::Kind::Field, s.field, s.after});
            }
            capture.kind = use.kind;
            capture.place_type = use.place.type;
            capture.use_span = use.span;
            capture.type = use.kind == CaptureKind::ByValue
                               ? use.place.type
                               : types_.ref(types_.erased, use.place.type, use.kind == CaptureKind::ByMutRef ? Mutability::Mut : Mutability::Not);
            state.info->captures.push_back(std::move(capture));
        }
        state.captures_known = true;
        if (!state.kind) state.kind = kind;
    }

    BodyChecker& b_;
    TypeStore& types_;
    DefId current_;
    std::vector<Use> uses_;
};

void BodyChecker::analyze_captures() {
    if (closure_order_.empty() || cx_.sink().error_count() != errors_before_) return;
    CaptureAnalysis(*this).run();
}

}  // namespace ockc::check
