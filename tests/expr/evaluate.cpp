#include "expr/evaluate.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "expr/build.h"
#include "expr/parse.h"
#include "expr/print.h"

namespace ollie::expr {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Named arrays of small values.
class Values {
public:
    Values& add(const std::string& name, ElementType type, Shape shape,
                const std::vector<double>& values) {
        HostArray array(type, std::move(shape));
        for (size_t i = 0; i < values.size(); ++i) array.set(static_cast<int64_t>(i), values[i]);
        arrays_[name] = std::move(array);
        return *this;
    }
    Values& floats(const std::string& name, const std::vector<double>& values) {
        return add(name, ElementType::F32, {static_cast<int64_t>(values.size())}, values);
    }
    Bindings bindings() const {
        Bindings result;
        for (const auto& [name, array] : arrays_) result[name] = &array;
        return result;
    }

private:
    std::map<std::string, HostArray> arrays_;
};

std::vector<double> list(const HostArray& array) {
    std::vector<double> result;
    for (int64_t i = 0; i < array.size(); ++i) result.push_back(array.at(i));
    return result;
}

/// The first output; every element also by the PointEvaluator.
std::vector<double> result_of(const std::string& text, const Values& values = {}) {
    Expr expr = parse(text);
    Bindings bindings = values.bindings();
    return list(evaluate(expr, bindings).front());
}

std::string error_of(const std::string& text, const Values& values = {}) {
    try {
        result_of(text, values);
    } catch (const UserError& error) {
        return std::string("user: ") + error.what();
    } catch (const InternalError&) {
        return "internal";
    }
    return "no error";
}

using Doubles = std::vector<double>;

TEST(Evaluate, AConvolutionWithPads) {
    Values values;
    values.floats("A", {1, 2, 3, 4}).floats("K", {1, 10, 100});
    EXPECT_EQ(result_of("input A: f32[4]\ninput K: f32[3]\n"
                        "Y: f32[h:4] = sum[r:3] A[h + r - 1 | 0] * K[r]",
                        values),
              (Doubles{210, 321, 432, 43}));
}

TEST(Evaluate, ATransposedConvolutionBySelect) {
    Values values;
    values.floats("A", {1, 2}).floats("K", {1, 10, 100});
    EXPECT_EQ(result_of("input A: f32[2]\ninput K: f32[3]\n"
                        "Y: f32[h:5] = sum[r:3] select((h - r) mod 2 == 0, "
                        "A[(h - r) div 2 | 0] * K[r], 0)",
                        values),
              (Doubles{1, 10, 102, 20, 200}));
}

TEST(Evaluate, AMaximumOverAWindowIgnoresWhatIsOutside) {
    Values values;
    values.floats("A", {-3, -1, -2});
    EXPECT_EQ(result_of("input A: f32[3]\nY: f32[h:3] = max[r:2] A[h + r | -inf]", values),
              (Doubles{-1, -1, -2}));
}

TEST(Evaluate, EmptyAxesAndReductions) {
    EXPECT_EQ(result_of("input A: f32[0]\nY: f32[i:0, j:3] = A[i]",
                        Values().add("A", ElementType::F32, {0}, {})),
              Doubles{});
    for (auto [monoid, identity] : std::vector<std::pair<std::string, double>>{
             {"sum", 0}, {"prod", 1}, {"max", -infinity}, {"min", infinity}})
        EXPECT_EQ(result_of("Y: f32[i:2] = " + monoid + "[r:0, s:2] (0.5 * number(r + s))"),
                  (Doubles{identity, identity}));
}

TEST(Evaluate, RankZero) {
    EXPECT_EQ(result_of("input A: f32[]\nY: f32[] = A[] + 1",
                        Values().add("A", ElementType::F32, {}, {2})),
              Doubles{3});
}

TEST(Evaluate, RangesNeedNotBeginAtZero) {
    EXPECT_EQ(result_of("T: f32[i:-2..2] = number(i)\nY: f32[j:5..7] = T[j - 6] + 0.5"),
              (Doubles{-0.5, 0.5}));
}

TEST(Evaluate, IntegersAreExactAndWrap) {
    EXPECT_EQ(result_of("Y: i8[i:3] = number(i) + 126"), (Doubles{126, 127, -128}));
    EXPECT_EQ(result_of("Y: u8[i:2] = number(i) - 1"), (Doubles{255, 0}));
    EXPECT_EQ(result_of("Y: i32[i:1] = (number(i) + 65536) * 65536"), Doubles{0});
    EXPECT_EQ(result_of("Y: bool[i:3] = number(i) - 1"), (Doubles{1, 0, 1}));
    Values values;
    values.add("A", ElementType::I64, {2}, {0, 0});
    Expr expr = parse("input A: i64[2]\nY: i64[i:2] = A[i] + 9007199254740993");
    HostArray a(ElementType::I64, {2});
    a.as<int64_t>()[0] = 9007199254740993;
    a.as<int64_t>()[1] = std::numeric_limits<int64_t>::min();
    HostArray y = evaluate(parse("input A: i64[2]\nY: i64[i:2] = A[i] - 1"), {{"A", &a}}).front();
    EXPECT_EQ(y.type(), ElementType::I64);
    EXPECT_EQ(y.int_at(0), 9007199254740992);
    EXPECT_EQ(y.int_at(1), std::numeric_limits<int64_t>::max());
}

TEST(Evaluate, DivisionsAndRemainders) {
    Values values;
    values.add("A", ElementType::I32, {4}, {7, -7, 7, -7});
    values.add("B", ElementType::I32, {4}, {2, 2, -2, 0});
    std::string sources = "input A: i32[4]\ninput B: i32[4]\n";
    auto result = [&](const std::string& f) {
        return result_of(sources + "Y: i32[i:4] = " + f + "(A[i], B[i])", values);
    };
    EXPECT_EQ(result("trunc_div"), (Doubles{3, -3, -3, 0}));
    EXPECT_EQ(result("floor_mod"), (Doubles{1, 1, -1, 0}));
    EXPECT_EQ(result("trunc_mod"), (Doubles{1, -1, 1, 0}));
}

TEST(Evaluate, Casts) {
    Values values;
    values.add("A", ElementType::F64, {4}, {1.9, -1.9, 300.5, 0.1});
    std::string source = "input A: f64[4]\n";
    EXPECT_EQ(result_of(source + "Y: i32[i:4] = cast i32(A[i])", values), (Doubles{1, -1, 300, 0}));
    EXPECT_EQ(result_of(source + "Y: u8[i:4] = cast u8(A[i])", values), (Doubles{1, 255, 44, 0}));
    EXPECT_EQ(result_of(source + "Y: bool[i:4] = cast bool(A[i])", values), (Doubles{1, 1, 1, 1}));
    EXPECT_EQ(result_of(source + "Y: f32[i:4] = cast f32(A[i])", values)[3],
              static_cast<double>(0.1f));
    EXPECT_EQ(result_of(source + "Y: f32[i:4] = cast f32(cast bool(A[i])) / 2", values),
              (Doubles{0.5, 0.5, 0.5, 0.5}));
}

TEST(Evaluate, NansGoThroughMaximaAndMinima) {
    Values values;
    values.floats("A", {1, not_a_number, -infinity});
    for (const char* body : {"max(A[i], 0)", "max(0, A[i])", "min(A[i], 0)", "min(0, A[i])"}) {
        Doubles y = result_of(std::string("input A: f32[3]\nY: f32[i:3] = ") + body, values);
        EXPECT_FALSE(std::isnan(y[0])) << body;
        EXPECT_TRUE(std::isnan(y[1])) << body;
        EXPECT_FALSE(std::isnan(y[2])) << body;
    }
    EXPECT_TRUE(std::isnan(result_of("input A: f32[3]\nY: f32[] = max[i:3] A[i]", values)[0]));
    EXPECT_TRUE(std::isnan(result_of("input A: f32[3]\nY: f32[] = A[2] * 0", values)[0]));
    EXPECT_EQ(result_of("input A: f32[3]\nY: f32[i:3] = is_nan(A[i])", values), (Doubles{0, 1, 0}));
    EXPECT_EQ(result_of("input A: f32[3]\nY: bool[i:3] = less(A[i], 2)", values),
              (Doubles{1, 0, 1}));
}

TEST(Evaluate, OnlyTheChosenBranchHasAValue) {
    Values values;
    values.floats("A", {1, 2}).floats("C", {0, 1, 0});
    EXPECT_EQ(result_of("input A: f32[2]\nY: f32[i:4] = select(i < 2, A[i], 7)", values),
              (Doubles{1, 2, 7, 7}));
    EXPECT_EQ(result_of("input A: f32[2]\ninput C: f32[3]\n"
                        "Y: f32[i:3] = where(C[i], A[i], 5)",
                        values),
              (Doubles{5, 2, 5}));
    values.floats("C", {0, 1, 1});
    EXPECT_EQ(error_of("input A: f32[2]\ninput C: f32[3]\n"
                       "Y: f32[i:3] = where(C[i], A[i], 5)",
                       values),
              "internal");
}

TEST(Evaluate, AReadOutsideWithoutAValueIsABug) {
    Values values;
    values.floats("A", {1, 2});
    EXPECT_EQ(error_of("input A: f32[2]\nY: f32[i:3] = A[i]", values), "internal");
    EXPECT_EQ(error_of("input A: f32[2]\nY: f32[i:3] = sum[k:3] A[k]", values), "internal");
}

TEST(Evaluate, BindingsAreChecked) {
    std::string text = "input A: f32[2]\nY: f32[i:2] = A[i]";
    EXPECT_EQ(error_of(text), "user: no values are given for 'A'");
    EXPECT_EQ(error_of(text, Values().floats("A", {1})), "user: 'A' has the shape 1, expected 2");
    EXPECT_EQ(error_of(text, Values().add("A", ElementType::I32, {2}, {1, 2})),
              "user: 'A' has the type i32, expected f32");
    EXPECT_EQ(result_of("weight W: f32[2] = {3, 4}\nY: f32[i:2] = W[i]"), (Doubles{3, 4}));
    EXPECT_EQ(
        result_of("weight W: f32[2] = {3, 4}\nY: f32[i:2] = W[i]", Values().floats("W", {5, 6})),
        (Doubles{5, 6}));
}

TEST(Evaluate, Functions) {
    Values values;
    values.add("A", ElementType::F64, {3}, {0.5, -2.5, 3.5});
    auto at = [&](const std::string& body) {
        return result_of("input A: f64[3]\nY: f64[i:3] = " + body, values);
    };
    EXPECT_EQ(at("round(A[i])"), (Doubles{0, -2, 4}));
    EXPECT_EQ(at("floor(A[i])"), (Doubles{0, -3, 3}));
    EXPECT_EQ(at("sign(A[i])"), (Doubles{1, -1, 1}));
    EXPECT_EQ(at("abs(A[i])"), (Doubles{0.5, 2.5, 3.5}));
    EXPECT_EQ(at("1 / A[i]"), (Doubles{2, -0.4, 1 / 3.5}));
    EXPECT_EQ(at("sigmoid(A[i])")[0], 1 / (1 + std::exp(-0.5)));
    EXPECT_EQ(at("pow(A[i], 2)"), (Doubles{0.25, 6.25, 12.25}));
    EXPECT_NEAR(at("softplus(A[i])")[1], std::log(1 + std::exp(-2.5)), 1e-15);
    EXPECT_EQ(at("xor(less(A[i], 1), less(A[i], 0))"), (Doubles{1, 0, 0}));
}

TEST(Evaluate, Float32RoundsEachOperation) {
    Expr expr = parse(
        "input A: f32[3]\nY: f32[] = sum[k:3] A[k]\nZ: f32[] = A[0] * A[0] + A[1]\n"
        "outputs Y, Z");
    Values values;
    values.floats("A", {16777216, 1, 1});
    std::vector<HostArray> results = evaluate_float32(expr, values.bindings());
    EXPECT_EQ(results[0].type(), ElementType::F32);
    EXPECT_EQ(results[0].at(0), 16777216);
    EXPECT_EQ(evaluate(expr, values.bindings())[0].at(0), 16777218);
    float a = 16777216;
    EXPECT_EQ(results[1].at(0), static_cast<double>(a * a + 1));
}

TEST(Evaluate, IntermediatesAreKeptInDouble) {
    Values values;
    values.floats("A", {1});
    EXPECT_EQ(
        result_of("input A: f32[1]\nT: f32[] = A[0] + 0.0000000001\nY: f32[] = T[] - 1", values)[0],
        (1 + 0.0000000001) - 1);
}

TEST(Evaluate, IndexFunctions) {
    EXPECT_EQ(result_of("Y: i32[i:6] = number({5, 7, 9}[i div 2])"), (Doubles{5, 5, 7, 7, 9, 9}));
    EXPECT_EQ(result_of("Y: i32[i:-3..3] = number(i div 2)"), (Doubles{-2, -1, -1, 0, 0, 1}));
    EXPECT_EQ(result_of("Y: i32[i:-3..3] = number(i mod 3)"), (Doubles{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(result_of("Y: i32[i:4] = number(min(i, 3 - i)) + 10 * number(max(i, 2))"),
              (Doubles{20, 21, 21, 30}));
}

TEST(Evaluate, LongChainsAndDeepBodiesDoNotOverflowTheStack) {
    std::string text = "input A: f32[2]\nT0: f32[i:2] = A[i]\n";
    for (int i = 1; i <= 5000; ++i) text += fmt::format("T{}: f32[i:2] = T{}[i] + 1\n", i, i - 1);
    Values values;
    values.floats("A", {1, 2});
    EXPECT_EQ(result_of(text, values), (Doubles{5001, 5002}));
    Expr chain = parse(text);
    Bindings bindings = values.bindings();
    EXPECT_EQ(PointEvaluator(chain, bindings).at(chain.outputs[0], {1}), 5002);

    auto arena = std::make_shared<Arena>();
    const Tensor* a = arena->input("A", ElementType::F32, {2});
    Scalar body = arena->read(a, {arena->constant(1)});
    for (int i = 0; i < 4000; ++i) body = max(body, arena->constant_scalar(i)) + 1.0;
    Expr deep{arena, {arena->define("Y", ElementType::F32, {}, body)}};
    EXPECT_EQ(list(evaluate(deep, bindings)[0]), Doubles{4002});
}

}  // namespace
}  // namespace ollie::expr
