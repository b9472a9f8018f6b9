#include "optimize/select.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "expr/parse.h"
#include "expr/visit.h"
#include "support/program_builder.h"

namespace ollie::optimize {
namespace {

using testing::ProgramBuilder;

constexpr int64_t tensor_bytes = 2 * 3 * 5 * 4;
constexpr const char* shape = ": f32[a:2, b:3, c:5] = ";

/// Which tensors each part of the model reads and writes.
struct Part {
    std::vector<std::string> reads;
    std::string writes;
};

const std::vector<std::vector<int>> orders = {{0, 1, 2}, {0, 2, 1}, {2, 0, 1}};

match::Machine machine() {
    match::Machine machine;
    machine.call_seconds = 1;
    machine.cache_bytes = 1 << 20;
    machine.cache_bandwidth = 4.0 * tensor_bytes / 2;  // A copy takes 1 + 2 seconds.
    return machine;
}
constexpr double copy_seconds = 3;

class Model {
public:
    Model(const std::vector<Part>& parts, uint64_t seed) : parts_(parts) {
        for (const Part& part : parts) add(part, seed = mix(seed + 1));
    }

    Selection selected() const {
        return select(subprograms_, solutions_, Among::Optimized, machine());
    }

    /// Least cost over all combinations.
    double least() const {
        double best = std::numeric_limits<double>::infinity();
        std::vector<size_t> choice(parts_.size(), 0);
        for (;;) {
            best = std::min(best, cost(choice));
            size_t i = 0;
            while (i < choice.size() && ++choice[i] == fragments(i).size()) choice[i++] = 0;
            if (i == choice.size()) return best;
        }
    }

    /// The cost of what was selected, added up anew.
    double cost(const Selection& selection) const {
        std::vector<size_t> choice;
        for (size_t i = 0; i < parts_.size(); ++i)
            choice.push_back(static_cast<size_t>(selection.fragments[i] - fragments(i).data()));
        return cost(choice);
    }

    std::vector<Fragment>& fragments(size_t i) { return solutions_.of[i]->fragments; }
    const std::vector<Fragment>& fragments(size_t i) const { return solutions_.of[i]->fragments; }

private:
    /// Every tensor is there in the layout in which it is made (inputs: row-major), and once more
    /// for each other layout in which somebody wants it; what nobody reads must be row-major.
    double cost(const std::vector<size_t>& choice) const {
        double seconds = 0;
        std::map<std::string, std::vector<int>> made;
        std::map<std::string, std::set<std::vector<int>>> wanted;
        for (size_t i = 0; i < parts_.size(); ++i) {
            const Fragment& fragment = fragments(i)[choice[i]];
            seconds += fragment.measured;
            for (size_t k = 0; k < parts_[i].reads.size(); ++k)
                wanted[parts_[i].reads[k]].insert(fragment.input_layout(parts_[i].reads[k])->order);
            made[parts_[i].writes] = fragment.output_layout(0).order;
        }
        for (const auto& [name, order] : made)
            if (!wanted.contains(name)) wanted[name].insert(orders[0]);
        for (auto& [name, layouts] : wanted) {
            layouts.erase(made.contains(name) ? made.at(name) : orders[0]);
            seconds += copy_seconds * static_cast<double>(layouts.size());
        }
        return seconds;
    }

    void add(const Part& part, uint64_t seed) {
        std::string text;
        std::string body;
        for (const std::string& name : part.reads) {
            text += "input " + name + ": f32[2, 3, 5]\n";
            body += (body.empty() ? "" : " + ") + name + "[a, b, c]";
        }
        text += "output " + part.writes + shape + body + "\n";
        subprograms_.push_back({part.writes, expr::parse(text)});
        auto solution = std::make_unique<Solution>();
        solution->problem = subprograms_.back().expr;
        for (uint64_t i = 0; i < 3; ++i) {
            Fragment fragment;
            ProgramBuilder builder;
            for (size_t k = 0; k < part.reads.size(); ++k)
                builder.buffer(part.reads[k], {2, 3, 5}, program::Role::Input,
                               orders[mix(seed + 16 * i + k) % 3]);
            builder.buffer(part.writes, {2, 3, 5}, program::Role::Output,
                           orders[mix(seed + 16 * i + 9) % 3]);
            fragment.program = builder.program();
            fragment.measured = 1 + static_cast<double>(mix(seed + 16 * i + 11) % 7);
            solution->fragments.push_back(std::move(fragment));
        }
        solutions_.of.push_back(solution.get());
        solutions_.distinct.push_back(std::move(solution));
    }

    std::vector<Part> parts_;
    std::vector<express::Subprogram> subprograms_;
    Solutions solutions_;
};

const std::vector<Part> chain = {
    {{"x"}, "a"}, {{"a"}, "b"}, {{"b"}, "c"}, {{"c"}, "d"}, {{"d"}, "e"}};
const std::vector<Part> diamond = {
    {{"x"}, "a"}, {{"a"}, "b"}, {{"a"}, "c"}, {{"b", "c"}, "d"}, {{"x", "d"}, "e"}};
const std::vector<Part> fan = {
    {{"x"}, "a"}, {{"a", "x"}, "b"}, {{"a", "b"}, "c"}, {{"a"}, "d"}, {{"x", "a"}, "e"}};

void expect_least(const std::vector<Part>& parts) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Model model(parts, seed * 1000003);
        Selection selection = model.selected();
        EXPECT_DOUBLE_EQ(selection.seconds, model.least()) << "seed " << seed;
        EXPECT_DOUBLE_EQ(selection.seconds, model.cost(selection)) << "seed " << seed;
    }
}

TEST(Select, IsAsGoodAsAllCombinationsInAChain) { expect_least(chain); }
TEST(Select, IsAsGoodAsAllCombinationsWhereWaysJoin) { expect_least(diamond); }
TEST(Select, IsAsGoodAsAllCombinationsWhereATensorIsReadOften) { expect_least(fan); }

TEST(Select, LeavesOutWhatIsRefused) {
    Model model(chain, 7);
    const Fragment* first = model.selected().fragments[2];
    const_cast<Fragment*>(first)->refused = true;
    Selection again = model.selected();
    EXPECT_NE(again.fragments[2], first);
    for (Fragment& fragment : model.fragments(2)) fragment.refused = true;
    EXPECT_THROW(model.selected(), InternalError);
}

}  // namespace
}  // namespace ollie::optimize
