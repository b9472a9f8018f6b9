#include "match/group.h"

#include <algorithm>

#include "expr/build.h"
#include "expr/parse.h"
#include "expr/print.h"
#include "expr/simplify.h"
#include "expr/visit.h"
#include "match/pattern_text.h"

namespace ollie::match {
namespace {

using expr::Iterator;
using expr::Scalar;
using expr::ScalarKind;
using expr::Tensor;

/// What an iterator stands for: an axis of the visible definition.
constexpr int unit = -1;     ///< One of extent 1, or none.
constexpr int unknown = -2;  ///< Of a reduction; known once a tensor is read whose axes are.

using Roles = std::vector<int>;

/// Compares definitions node by node, from the visible one to its producers. Every axis of the
/// visible definition is a role; iterators with the same role stand for the same thing everywhere.
class GroupMatcher {
public:
    explicit GroupMatcher(const Tensor* visible) : visible_(visible) {}

    bool matches(const Tensor* pattern) {
        Roles roles;
        for (size_t axis = 0; axis < visible_->rank(); ++axis)
            roles.push_back(visible_->axes[axis].extent() == 1 ? unit : static_cast<int>(axis));
        State state;
        if (!bind(pattern, visible_, roles, state)) return false;
        for (size_t next = 0; next < state.bound.size(); ++next)
            if (state.bound[next].pattern->is_definition() && !match_definition(next, state))
                return false;
        found_ = std::move(state);
        return true;
    }

    /// Producers first.
    std::vector<const Tensor*> definitions() const {
        std::vector<const Tensor*> result;
        for (const Tensor* tensor : expr::definitions_of({nullptr, {visible_}}))
            for (const Bound& bound : found_.bound)
                if (bound.actual == tensor && bound.pattern->is_definition())
                    result.push_back(tensor);
        return result;
    }

    struct Bound {
        const Tensor* pattern;
        const Tensor* actual;
        Roles roles;  ///< Per axis of the actual tensor.
    };
    const std::vector<Bound>& bound() const { return found_.bound; }

    /// In the order of being met, which the pattern fixes.
    uint32_t occurrences(int role) const {
        uint32_t set = 0;
        size_t bit = 0;
        auto add = [&](const Roles& roles) {
            bool has_it = std::find(roles.begin(), roles.end(), role) != roles.end();
            set |= static_cast<uint32_t>(has_it) << bit++;
        };
        for (const Bound& bound : found_.bound) add(bound.roles);
        for (const Roles& roles : found_.reduced) add(roles);
        return set;
    }

private:
    using Scope = std::map<Iterator, int>;

    struct State {
        std::vector<Bound> bound;
        std::vector<Roles> reduced;  ///< Per reduction.
        Scope scope;                 ///< Of the definition that is being compared.
    };

    static bool bind(const Tensor* pattern, const Tensor* actual, const Roles& roles,
                     State& state) {
        if (actual->type != ElementType::F32) return false;
        if (pattern->is_definition() && !actual->is_definition()) return false;
        for (const expr::Axis& axis : actual->axes)
            if (axis.lo != 0) return false;
        for (const Bound& bound : state.bound)
            if (bound.actual == actual) return false;
        state.bound.push_back({pattern, actual, roles});
        return true;
    }

    bool match_definition(size_t at, State& state) {
        Bound bound = state.bound[at];
        state.scope.clear();
        for (size_t axis = 0; axis < bound.actual->rank(); ++axis)
            state.scope[bound.actual->axes[axis].iterator] = bound.roles[axis];
        return match(bound.pattern->body, bound.actual->body, state);
    }

    bool match(Scalar pattern, Scalar actual, State& state) {
        if (pattern->kind != actual->kind || pattern->operands.size() != actual->operands.size())
            return false;
        switch (pattern->kind) {
            case ScalarKind::Constant:
                return pattern->constant == actual->constant;
            case ScalarKind::Read:
                return match_read(pattern, actual, state);
            case ScalarKind::Add:
            case ScalarKind::Mul:
                return match_in_any_order(pattern, actual->operands, 0, state);
            case ScalarKind::Function:
                if (pattern->function != actual->function) return false;
                for (size_t i = 0; i < pattern->operands.size(); ++i)
                    if (!match(pattern->operands[i], actual->operands[i], state)) return false;
                return true;
            case ScalarKind::Reduce:
                return match_reduction(pattern, actual, state);
            default:
                return false;
        }
    }

    /// The pattern's operands from `at` on against the actual ones that are left.
    bool match_in_any_order(Scalar pattern, const std::vector<Scalar>& left, size_t at,
                            State& state) {
        if (at == pattern->operands.size()) return true;
        for (size_t i = 0; i < left.size(); ++i) {
            State attempt = state;
            std::vector<Scalar> fewer = left;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (!match(pattern->operands[at], left[i], attempt)) continue;
            if (!match_in_any_order(pattern, fewer, at + 1, attempt)) continue;
            state = std::move(attempt);
            return true;
        }
        return false;
    }

    bool match_reduction(Scalar pattern, Scalar actual, State& state) {
        if (pattern->monoid != actual->monoid) return false;
        for (const expr::Axis& axis : actual->axes) {
            if (axis.lo != 0) return false;
            state.scope[axis.iterator] = axis.extent() == 1 ? unit : unknown;
        }
        if (!match(pattern->operands[0], actual->operands[0], state)) return false;
        Roles roles;
        for (const expr::Axis& axis : actual->axes) {
            int role = state.scope.at(axis.iterator);
            bool is_known = role == unit || (role >= 0 && extent_of(role) == axis.extent());
            if (!is_known) return false;
            roles.push_back(role);
        }
        state.reduced.push_back(std::move(roles));
        return true;
    }

    bool match_read(Scalar pattern, Scalar actual, State& state) {
        auto known = std::find_if(state.bound.begin(), state.bound.end(), [&](const Bound& bound) {
            return bound.pattern == pattern->tensor;
        });
        bool is_new = known == state.bound.end();
        if (!is_new && known->actual != actual->tensor) return false;
        Roles roles;
        for (size_t axis = 0; axis < actual->indices.size(); ++axis) {
            int64_t extent = actual->tensor->axes[axis].extent();
            int expected = is_new ? unknown : known->roles[axis];
            auto role = role_at(actual->indices[axis], extent, expected, state);
            if (!role) return false;
            roles.push_back(*role);
        }
        return is_new ? bind(pattern->tensor, actual->tensor, roles, state) : roles == known->roles;
    }

    /// The role of an axis that is read at this index; one that is not known yet is as expected.
    std::optional<int> role_at(expr::Index index, int64_t extent, int expected,
                               State& state) const {
        if (extent == 1) return unit;
        std::optional<Iterator> iterator = expr::as_iterator(index);
        if (!iterator) return std::nullopt;
        auto found = state.scope.find(*iterator);
        if (found == state.scope.end()) return std::nullopt;
        if (found->second == unknown) found->second = expected;
        int role = found->second;
        if (role < 0 || extent_of(role) != extent) return std::nullopt;
        return role;
    }

    int64_t extent_of(int role) const { return visible_->axes[static_cast<size_t>(role)].extent(); }

    const Tensor* visible_;
    State found_;
};

MatchResult none(const Pattern& pattern) {
    return std::vector<Mismatch>{{Mismatch::Kind::NotThisForm, IteratorClass::Reduced, -1,
                                  fmt::format("it and its producers are not `{}`",
                                              expr::print(pattern.group->expr.outputs[0]->body))}};
}

Operand operand_of(const GroupMatcher::Bound& bound, size_t rank) {
    Operand operand{bound.pattern->name, bound.actual, std::vector<int>(rank, -1)};
    for (size_t axis = 0; axis < bound.roles.size(); ++axis)
        if (bound.roles[axis] >= 0)
            operand.axis_of[static_cast<size_t>(bound.roles[axis])] = static_cast<int>(axis);
    return operand;
}

}  // namespace

std::shared_ptr<const GroupPattern> parse_group(std::string_view text) {
    auto pattern = std::make_shared<GroupPattern>();
    pattern->expr = expr::parse(text);
    const Tensor* visible = pattern->expr.outputs.at(0);
    GroupMatcher itself(visible);
    CHECK(itself.matches(visible), "pattern '{}' does not match itself", text);
    for (size_t axis = 0; axis < visible->rank(); ++axis) {
        std::string name = visible->axes[axis].iterator->name;
        bool is_new =
            pattern->iterators.try_emplace(itself.occurrences(static_cast<int>(axis)), name).second;
        CHECK(is_new, "pattern '{}': nothing tells {} from another", text, name);
    }
    return pattern;
}

MatchResult match_group(const Tensor* definition, const Pattern& pattern) {
    GroupMatcher matcher(definition);
    if (!definition->is_definition() || !matcher.matches(pattern.group->expr.outputs[0]))
        return none(pattern);
    auto group = std::make_shared<Group>();
    group->definitions = matcher.definitions();
    for (const auto& [set, name] : pattern.group->iterators) group->axes[name];
    for (size_t axis = 0; axis < definition->rank(); ++axis) {
        if (definition->axes[axis].extent() == 1) continue;
        auto iterator = pattern.group->iterators.find(matcher.occurrences(static_cast<int>(axis)));
        if (iterator == pattern.group->iterators.end()) return none(pattern);
        group->axes[iterator->second].push_back(static_cast<int>(axis));
    }
    Binding binding;
    binding.definition = definition;
    binding.core = binding.epilogue = definition->body;
    for (const GroupMatcher::Bound& bound : matcher.bound())
        if (!bound.pattern->is_definition())
            binding.operands.push_back(operand_of(bound, definition->rank()));
    binding.result = operand_of(matcher.bound()[0], definition->rank());
    binding.group = std::move(group);
    return binding;
}

}  // namespace ollie::match
