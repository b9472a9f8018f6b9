#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "expr/node.h"

/// Reading of indices and predicates: the part of parse.h that depends on the iterators in scope.
namespace ollie::expr {

/// Bounds the nesting of brackets, so that no text overflows the stack.
class DepthGuard {
public:
    DepthGuard(int& depth, const TextReader&);
    ~DepthGuard() { --depth_; }
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;

private:
    int& depth_;
};

/// "f32"
ElementType parse_type(TextReader&);

/// The iterators in scope, innermost last.
class IteratorScope {
public:
    IteratorScope(TextReader& reader, Arena& arena) : reader_(reader), arena_(arena) {}
    /// A new iterator; an error if the name is in scope.
    Iterator push(const std::string& name);
    size_t size() const { return iterators_.size(); }
    void shrink(size_t size) { iterators_.resize(size); }
    /// Nothing if there is none of that name.
    std::optional<Iterator> find(std::string_view name) const;

private:
    TextReader& reader_;
    Arena& arena_;
    std::vector<Iterator> iterators_;
};

/// Index ::= -? Term ((+|-) Term)*        Term ::= Factor (* Factor | div k | mod k)*
class IndexParser {
public:
    IndexParser(TextReader& reader, Arena& arena, const IteratorScope& scope)
        : reader_(reader), arena_(arena), scope_(scope) {}

    Index index();
    Predicate predicate();

private:
    Index term();
    Index factor();
    Index minimum_or_maximum();
    Index table();
    Index product(Index, Index);
    int64_t divisor();
    Predicate conjunction();
    Predicate atom();
    Predicate comparisons();
    Predicate comparison(Index left, std::string_view relation, Index right);
    bool is_parenthesized_predicate() const;

    TextReader& reader_;
    Arena& arena_;
    const IteratorScope& scope_;
    int depth_ = 0;
};

}  // namespace ollie::expr
