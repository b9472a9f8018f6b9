#include "expr/parse.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "expr/build.h"
#include "expr/index_parser.h"
#include "expr/print.h"

namespace ollie::expr {
namespace {

using Tensors = std::map<std::string, const Tensor*, std::less<>>;

/// Reads the body of a definition. Three levels of precedence: sum, product, factor.
class ScalarParser {
public:
    ScalarParser(TextReader& reader, Arena& arena, const Tensors& tensors,
                 std::set<const Tensor*>& read)
        : reader_(reader),
          arena_(arena),
          tensors_(tensors),
          read_(read),
          scope_(reader, arena),
          index_(reader, arena, scope_) {}

    std::vector<Axis> axes() {
        std::vector<Axis> result;
        reader_.expect("[");
        while (!reader_.accept("]")) {
            if (!result.empty()) reader_.expect(",");
            result.push_back(axis());
        }
        return result;
    }

    Scalar sum() {
        DepthGuard guard(depth_, reader_);
        std::vector<Scalar> operands{product(false)};
        while (true) {
            if (reader_.accept("+"))
                operands.push_back(product(false));
            else if (reader_.accept("-"))
                operands.push_back(product(true));
            else
                break;
        }
        return operands.size() == 1 ? operands.front() : arena_.add(std::move(operands));
    }

private:
    Axis axis() {
        size_t position = reader_.position();
        Axis result{scope_.push(reader_.name()), 0, 0};
        reader_.expect(":");
        result.hi = reader_.integer();
        if (reader_.accept("..")) {
            result.lo = result.hi;
            result.hi = reader_.integer();
        }
        if (result.hi < result.lo) reader_.fail_at(position, "a range that ends before it begins");
        return result;
    }

    Scalar product(bool negative) {
        if (reader_.accept("-")) negative = !negative;
        bool is_literal = reader_.peek().kind == TokenKind::Integer ||
                          reader_.peek().kind == TokenKind::Float || reader_.peek().is("inf");
        std::vector<Scalar> operands{factor()};
        if (negative && is_literal)
            operands.front() = arena_.constant_scalar(-operands.front()->constant);
        else if (negative)
            operands.insert(operands.begin(), arena_.constant_scalar(-1));
        while (true) {
            if (reader_.accept("*"))
                operands.push_back(factor());
            else if (reader_.accept("/"))
                operands.push_back(arena_.function(Function::Reciprocal, {factor()}));
            else
                break;
        }
        return operands.size() == 1 ? operands.front() : arena_.mul(std::move(operands));
    }

    Scalar factor() {
        const Token& token = reader_.peek();
        if (token.kind == TokenKind::Integer || token.kind == TokenKind::Float || token.is("-"))
            return arena_.constant_scalar(reader_.number());
        if (reader_.accept("(")) {
            Scalar inner = sum();
            reader_.expect(")");
            return inner;
        }
        if (!reader_.peek_is_name()) reader_.fail_expected("a scalar");
        if (token.kind == TokenKind::Name) {
            const Token& after = reader_.peek(1);
            if (auto monoid = monoid_of(token.text); monoid && after.is("["))
                return reduction(*monoid);
            if (token.is("cast")) return cast();
            if (after.is("(")) return call();
            if (!after.is("[") && (token.is("inf") || token.is("nan")))
                return arena_.constant_scalar(reader_.number());
        }
        return read();
    }

    Scalar reduction(Monoid monoid) {
        DepthGuard guard(depth_, reader_);
        reader_.next();
        size_t outer = scope_.size();
        std::vector<Axis> bound = axes();
        Scalar body = product(false);
        scope_.shrink(outer);
        return arena_.reduce(monoid, std::move(bound), body);
    }

    Scalar cast() {
        reader_.next();
        ElementType type = parse_type(reader_);
        reader_.expect("(");
        Scalar operand = sum();
        reader_.expect(")");
        return arena_.cast(type, operand);
    }

    Scalar call() {
        size_t position = reader_.position();
        std::string name = reader_.name();
        reader_.expect("(");
        if (name == "number") {
            Index index = index_.index();
            reader_.expect(")");
            return arena_.number(index);
        }
        if (name == "select") {
            Predicate predicate = index_.predicate();
            reader_.expect(",");
            std::vector<Scalar> branches = arguments();
            if (branches.size() != 2) reader_.fail_at(position, "select takes two scalars");
            return arena_.select(predicate, branches[0], branches[1]);
        }
        std::vector<Scalar> operands = arguments();
        if (name == "relu" && operands.size() == 1) return relu(operands.front());
        auto function = function_of(name);
        if (!function) reader_.fail_at(position, fmt::format("there is no function '{}'", name));
        if (operands.size() != arity_of(*function))
            reader_.fail_at(position, fmt::format("{} takes {} operands, found {}", name,
                                                  arity_of(*function), operands.size()));
        return arena_.function(*function, std::move(operands));
    }

    /// What follows the opening parenthesis, and the closing one.
    std::vector<Scalar> arguments() {
        std::vector<Scalar> result{sum()};
        while (reader_.accept(",")) result.push_back(sum());
        reader_.expect(")");
        return result;
    }

    Scalar read() {
        size_t position = reader_.position();
        std::string name = reader_.name();
        auto found = tensors_.find(name);
        if (found == tensors_.end())
            reader_.fail_at(
                position,
                fmt::format("'{}' is neither a function nor a tensor defined above", name));
        const Tensor* tensor = found->second;
        reader_.expect("[");
        std::vector<Index> indices;
        while (!reader_.peek().is("]") && !reader_.peek().is("|")) {
            if (!indices.empty()) reader_.expect(",");
            indices.push_back(index_.index());
        }
        std::optional<double> outside;
        if (reader_.accept("|")) outside = reader_.number();
        reader_.expect("]");
        if (indices.size() != tensor->rank())
            reader_.fail_at(position, fmt::format("'{}' has rank {}, found {} indices", name,
                                                  tensor->rank(), indices.size()));
        read_.insert(tensor);
        return arena_.read(tensor, std::move(indices), outside);
    }

    TextReader& reader_;
    Arena& arena_;
    const Tensors& tensors_;
    std::set<const Tensor*>& read_;
    IteratorScope scope_;
    IndexParser index_;
    int depth_ = 0;
};

/// Reads statements, one per tensor.
class ExprParser {
public:
    ExprParser(std::string_view text, const std::shared_ptr<Arena>& arena)
        : reader_(text), arena_(arena) {}

    Expr parse() {
        while (!reader_.at_end()) statement();
        if (outputs_.empty())
            for (const Tensor* tensor : defined_)
                if (!read_.contains(tensor)) outputs_.push_back(tensor);
        if (outputs_.empty()) reader_.fail_expected("a definition");
        return {arena_, outputs_};
    }

private:
    /// A word that is not the name of a definition.
    bool accept_word(std::string_view word) {
        if (!reader_.peek().is(word) || reader_.peek(1).is(":")) return false;
        reader_.next();
        return true;
    }

    void statement() {
        if (accept_word("outputs")) return output_list();
        if (accept_word("input")) return source(TensorKind::Input);
        if (accept_word("weight")) return source(TensorKind::Weight);
        bool is_output = accept_word("output");
        bool is_pinned = accept_word("pinned");
        const Tensor* tensor = definition(is_pinned);
        if (is_output) outputs_.push_back(tensor);
    }

    void output_list() {
        do {
            auto found = tensors_.find(reader_.name());
            if (found == tensors_.end()) reader_.fail_at(reader_.position() - 1, "no such tensor");
            outputs_.push_back(found->second);
        } while (reader_.accept(","));
    }

    std::string new_name() {
        std::string name = reader_.name();
        if (tensors_.contains(name))
            reader_.fail_at(reader_.position() - 1, fmt::format("'{}' is defined twice", name));
        reader_.expect(":");
        return name;
    }

    void source(TensorKind kind) {
        std::string name = new_name();
        ElementType type = parse_type(reader_);
        Shape shape = extents();
        const Tensor* tensor = nullptr;
        if (kind == TensorKind::Input)
            tensor = arena_->input(name, type, shape);
        else
            tensor = arena_->weight(name, type, shape, values(type, shape));
        tensors_[name] = tensor;
    }

    Shape extents() {
        Shape shape;
        reader_.expect("[");
        while (!reader_.accept("]")) {
            if (!shape.empty()) reader_.expect(",");
            shape.push_back(reader_.integer());
            if (shape.back() < 0) reader_.fail_at(reader_.position() - 1, "an extent below zero");
        }
        return shape;
    }

    std::shared_ptr<const HostArray> values(ElementType type, const Shape& shape) {
        if (!reader_.accept("=")) return nullptr;
        auto result = std::make_shared<HostArray>(type, shape);
        reader_.expect("{");
        for (int64_t i = 0; i < result->size(); ++i) {
            if (i > 0) reader_.expect(",");
            set_value(*result, i);
        }
        reader_.expect("}");
        return result;
    }

    void set_value(HostArray& array, int64_t at) {
        if (is_float(array.type()))
            array.set(at, reader_.number());
        else if (size_of(array.type()) == 8)
            array.as<int64_t>()[static_cast<size_t>(at)] = reader_.integer();
        else
            array.set(at, static_cast<double>(reader_.integer()));
    }

    const Tensor* definition(bool is_pinned) {
        std::string name = new_name();
        ElementType type = parse_type(reader_);
        ScalarParser body(reader_, *arena_, tensors_, read_);
        std::vector<Axis> axes = body.axes();
        reader_.expect("=");
        Scalar scalar = body.sum();
        const Tensor* tensor =
            arena_->define(name, type, std::move(axes), scalar, origin(), is_pinned);
        tensors_[name] = tensor;
        defined_.push_back(tensor);
        return tensor;
    }

    Origin origin() {
        Origin result;
        if (!reader_.peek().is("from") || reader_.peek(1).kind != TokenKind::String) return result;
        reader_.next();
        do {
            result = merge(result, {reader_.string()});
        } while (reader_.accept(","));
        return result;
    }

    TextReader reader_;
    std::shared_ptr<Arena> arena_;
    Tensors tensors_;
    std::vector<const Tensor*> defined_;
    std::set<const Tensor*> read_;
    std::vector<const Tensor*> outputs_;
};

}  // namespace

Expr parse(std::string_view text) { return parse(text, std::make_shared<Arena>()); }

Expr parse(std::string_view text, const std::shared_ptr<Arena>& arena) {
    return ExprParser(text, arena).parse();
}

}  // namespace ollie::expr
