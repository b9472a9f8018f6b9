#include "program/parse.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "expr/parse.h"

namespace ollie::program {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) : rest_(text) {}

    Program parse() {
        if (line() != "program") throw_user_error("line 1: expected 'program'");
        while (!rest_.empty()) {
            TextReader reader(line());
            if (reader.accept("inputs"))
                program_.inputs = list(reader);
            else if (reader.accept("outputs"))
                program_.outputs = list(reader);
            else if (reader.accept("call"))
                step(reader, StepKind::Call);
            else if (reader.accept("kernel"))
                step(reader, StepKind::Kernel);
            else
                buffer(reader);
            if (!reader.at_end()) reader.fail_expected("the end of the line");
        }
        return std::move(program_);
    }

private:
    std::string_view line() {
        size_t end = std::min(rest_.find('\n'), rest_.size());
        std::string_view result = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        return result;
    }

    static Role role(TextReader& reader) {
        if (reader.accept("input")) return Role::Input;
        if (reader.accept("output")) return Role::Output;
        if (reader.accept("constant")) return Role::Constant;
        if (reader.accept("scratch")) return Role::Scratch;
        reader.fail_expected("a buffer or a step");
    }

    void buffer(TextReader& reader) {
        Buffer buffer;
        buffer.role = role(reader);
        buffer.name = reader.name();
        reader.expect(":");
        size_t place = reader.position();
        auto type = element_type_of(reader.name());
        if (!type) reader.fail_at(place, "expected a type");
        buffer.type = *type;
        reader.expect("[");
        if (!reader.accept("]")) {
            do buffer.shape.push_back(reader.integer());
            while (reader.accept(","));
            reader.expect("]");
        }
        buffer.layout = Layout::row_major(buffer.shape.size());
        if (reader.accept("order"))
            for (int& axis : buffer.layout.order) axis = static_cast<int>(reader.integer());
        known_[buffer.name] = static_cast<int>(program_.buffers.size());
        program_.buffers.push_back(std::move(buffer));
    }

    std::vector<int> list(TextReader& reader) {
        std::vector<int> buffers;
        reader.expect("(");
        if (reader.accept(")")) return buffers;
        do {
            size_t place = reader.position();
            auto found = known_.find(reader.name());
            if (found == known_.end()) reader.fail_at(place, "no buffer of this name");
            buffers.push_back(found->second);
        } while (reader.accept(","));
        reader.expect(")");
        return buffers;
    }

    void step(TextReader& reader, StepKind kind) {
        Step step;
        step.kind = kind;
        step.target = reader.name();
        if (reader.accept("{")) {
            do {
                std::string name = reader.name();
                reader.expect("=");
                step.parameters[name] = read_attribute(reader);
            } while (reader.accept(","));
            reader.expect("}");
        }
        step.arguments = list(reader);
        reader.expect("->");
        step.results = list(reader);
        if (reader.accept("from")) {
            do step.origin.push_back(reader.string());
            while (reader.accept(","));
        }
        std::string meaning;
        while (rest_.starts_with("  ")) meaning += std::string(line().substr(2)) + "\n";
        if (!meaning.empty()) step.meaning = expr::parse(meaning);
        program_.steps.push_back(std::move(step));
    }

    std::string_view rest_;
    Program program_;
    std::map<std::string, int> known_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace ollie::program
