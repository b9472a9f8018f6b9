#include "program/parse.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "expr/parse.h"
#include "program/print.h"

namespace ollie::program {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text), reader_(text) {}

    Program parse() {
        reader_.expect("program");
        while (!reader_.at_end()) {
            if (!begins_line()) reader_.fail_expected("a new line");
            line();
        }
        return std::move(program_);
    }

private:
    /// The next token is the first of a line and not indented.
    bool begins_line() const {
        const Token& token = reader_.peek();
        return token.starts_line && (token.offset == 0 || text_[token.offset - 1] == '\n');
    }

    void line() {
        if (reader_.accept("inputs"))
            program_.inputs = list();
        else if (reader_.accept("outputs"))
            program_.outputs = list();
        else if (reader_.accept("call"))
            step(StepKind::Call);
        else if (reader_.accept("kernel"))
            step(StepKind::Kernel);
        else
            buffer();
    }

    Role role() {
        for (Role role : {Role::Input, Role::Output, Role::Constant, Role::Scratch})
            if (reader_.accept(name_of(role))) return role;
        reader_.fail_expected("a buffer or a step");
    }

    void buffer() {
        Buffer buffer;
        buffer.role = role();
        size_t place = reader_.position();
        buffer.name = reader_.name();
        if (!known_.try_emplace(buffer.name, static_cast<int>(program_.buffers.size())).second)
            reader_.fail_at(place, fmt::format("'{}' is defined twice", buffer.name));
        reader_.expect(":");
        place = reader_.position();
        auto type = element_type_of(reader_.name());
        if (!type) reader_.fail_at(place, "expected a type");
        buffer.type = *type;
        buffer.shape = shape();
        buffer.layout = Layout::row_major(buffer.shape.size());
        if (reader_.accept("order")) order(buffer.layout);
        program_.buffers.push_back(std::move(buffer));
    }

    Shape shape() {
        Shape shape;
        reader_.expect("[");
        if (reader_.accept("]")) return shape;
        do {
            size_t place = reader_.position();
            shape.push_back(reader_.integer());
            if (shape.back() < 0) reader_.fail_at(place, "an extent below 0");
        } while (reader_.accept(","));
        reader_.expect("]");
        return shape;
    }

    void order(Layout& layout) {
        size_t place = reader_.position();
        auto rank = static_cast<int64_t>(layout.order.size());
        for (int& axis : layout.order)
            axis = static_cast<int>(std::clamp<int64_t>(reader_.integer(), -1, rank));
        std::vector<int> sorted = layout.order;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != Layout::row_major(layout.order.size()).order)
            reader_.fail_at(place, "an order that is no permutation of the axes");
    }

    std::vector<int> list() {
        std::vector<int> buffers;
        reader_.expect("(");
        if (reader_.accept(")")) return buffers;
        do {
            size_t place = reader_.position();
            auto found = known_.find(reader_.name());
            if (found == known_.end()) reader_.fail_at(place, "no buffer of this name");
            buffers.push_back(found->second);
        } while (reader_.accept(","));
        reader_.expect(")");
        return buffers;
    }

    Attributes parameters() {
        Attributes parameters;
        if (!reader_.accept("{")) return parameters;
        do {
            std::string name = reader_.name();
            reader_.expect("=");
            parameters[name] = read_attribute(reader_);
        } while (reader_.accept(","));
        reader_.expect("}");
        return parameters;
    }

    void step(StepKind kind) {
        Step step;
        step.kind = kind;
        step.target = reader_.name();
        step.parameters = parameters();
        step.arguments = list();
        reader_.expect("->");
        step.results = list();
        if (reader_.accept("from")) {
            do step.origin.push_back(reader_.string());
            while (reader_.accept(","));
        }
        step.meaning = meaning();
        program_.steps.push_back(std::move(step));
    }

    /// The indented lines that follow; none where the step has no meaning.
    expr::Expr meaning() {
        if (reader_.at_end() || begins_line()) return {};
        if (!reader_.peek().starts_line) reader_.fail_expected("a new line");
        size_t begin = reader_.peek().offset;
        while (!reader_.at_end() && !begins_line()) reader_.next();
        size_t end = reader_.at_end() ? text_.size() : reader_.peek().offset;
        // Blank lines above and spaces before it put errors at their place in the whole text.
        size_t line_begin = text_.rfind('\n', begin) + 1;
        auto lines = static_cast<size_t>(
            std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
        return expr::parse(std::string(lines, '\n') +
                           std::string(text_.substr(line_begin, end - line_begin)));
    }

    std::string_view text_;
    TextReader reader_;
    Program program_;
    std::map<std::string, int> known_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace ollie::program
