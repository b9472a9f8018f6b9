#include "optimize/bench.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "optimize/temporary_folder.h"

namespace ollie::optimize {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

HostArray array_of(const std::vector<double>& values, ElementType type = ElementType::F32) {
    HostArray array(type, {static_cast<int64_t>(values.size())});
    for (size_t i = 0; i < values.size(); ++i) array.set(static_cast<int64_t>(i), values[i]);
    return array;
}

/// Takes the times it is told, alone and in turn, and writes down what is asked of it.
class FakeContestant : public Contestant {
public:
    FakeContestant(std::string name, double alone, double in_turn, std::string* log)
        : name_(std::move(name)), alone_(alone), in_turn_(in_turn), log_(log) {}

    const std::string& name() const override { return name_; }
    OrRefusal<Loaded> prepare(const LoadRequest& request) override {
        x_ = read_npy(request.inputs.at(0).file);
        *log_ += name_ + ":prepare ";
        return Loaded{"1", "fake"};
    }
    std::vector<double> run_block(const BlockSettings&) override {
        if (suspended_ > 0 && !active_) throw UserError("asked while suspended");
        *log_ += name_ + " ";
        return std::vector<double>(3, suspended_ == 0 ? alone_ : in_turn_);
    }
    std::vector<HostArray> outputs() override { return {x_}; }
    void suspend() override {
        ++suspended_;
        active_ = false;
    }
    void resume() override { active_ = true; }

private:
    std::string name_;
    double alone_, in_turn_;
    std::string* log_;
    HostArray x_;
    int suspended_ = 0;
    bool active_ = false;
};

BenchCase small_case() {
    BenchCase problem;
    problem.model = "models/with a space.onnx";
    problem.inputs.push_back({"x", array_of({1, -2, 3})});
    problem.exact_outputs.push_back(array_of({1, -2, 4}, ElementType::F64));
    return problem;
}

BenchSettings quick() {
    BenchSettings settings;
    settings.processors = processors_for(1);
    settings.alone_blocks = 1;
    settings.rounds = 2;
    return settings;
}

std::unique_ptr<Contestant> fake_rival(const std::string& kind, double run_seconds = 20) {
    Command command{{"python3", "tests/optimize/fake_rival.py", kind}};
    return std::make_unique<ChildContestant>("rival", command, "",
                                             ChildContestant::Limits{20, run_seconds});
}

BenchRow row_of(std::unique_ptr<Contestant> contestant) {
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(std::move(contestant));
    return bench(small_case(), contestants, quick()).rows.at(0);
}

std::string keys_of(const nlohmann::ordered_json& object) {
    std::string keys;
    for (const auto& [key, value] : object.items()) keys += (keys.empty() ? "" : " ") + key;
    return keys;
}

TEST(Bench, ComparesSampledElements) {
    BenchCase problem = small_case();
    problem.exact_outputs = {array_of({4, 1}, ElementType::F64)};
    problem.sampled = {{2, 0}};
    std::string log;
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(std::make_unique<FakeContestant>("a", 1, 1, &log));
    EXPECT_DOUBLE_EQ(*bench(problem, contestants, quick()).rows[0].max_error_of_scale, 0.25);
    problem.sampled = {{2, 1}};
    EXPECT_DOUBLE_EQ(*bench(problem, contestants, quick()).rows[0].max_error_of_scale, 0.75);
}

TEST(Bench, EachAloneThenInTurn) {
    std::string log;
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(std::make_unique<FakeContestant>("a", 1, 1, &log));
    contestants.push_back(std::make_unique<FakeContestant>("b", 2, 2, &log));
    bench(small_case(), contestants, quick());
    EXPECT_EQ(log, "a:prepare a b:prepare b a b a b ");
}

TEST(Bench, ReportsWhatTheProtocolPromises) {
    std::string log;
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(std::make_unique<FakeContestant>("ollie", 0.001, 0.001, &log));
    contestants.push_back(std::make_unique<FakeContestant>("onnxruntime", 0.002, 0.002, &log));
    BenchReport report = bench(small_case(), contestants, quick());
    auto json = nlohmann::ordered_json::parse(to_json(report));
    EXPECT_EQ(json["model"], "models/with a space.onnx");
    EXPECT_EQ(json["threads"], 1);
    EXPECT_TRUE(json["fit"]);
    EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
    ASSERT_EQ(json["rows"].size(), 2U);
    EXPECT_EQ(json["rows"][0]["name"], "ollie");
    EXPECT_EQ(json["rows"][0]["version"], "1");
    EXPECT_EQ(json["rows"][0]["median_ms"], 1.0);
    EXPECT_EQ(json["rows"][0]["quartiles_ms"], (std::vector<double>{1, 1}));
    EXPECT_DOUBLE_EQ(json["rows"][0]["max_error_of_scale"], 0.25);
    for (const auto& [keys, object] :
         {std::pair{"model threads machine fit rows", json},
          std::pair{"name version median_ms quartiles_ms max_error_of_scale", json["rows"][0]}})
        EXPECT_EQ(keys_of(object), keys);
    Json details = Json::parse(to_json(report, Details::Yes));
    EXPECT_EQ(details["speedups"]["onnxruntime"], 2.0);
    EXPECT_EQ(details["rows"][1]["settings"], "fake");
    EXPECT_THAT(to_table(report), HasSubstr("2.00x"));
}

TEST(Bench, TheFasterCountsWhereBothDiffer) {
    std::string log;
    BenchRow slower = row_of(std::make_unique<FakeContestant>("a", 1, 1.2, &log));
    EXPECT_FALSE(slower.is_valid());
    EXPECT_EQ(slower.counted().median, 1);
    BenchRow faster = row_of(std::make_unique<FakeContestant>("a", 1.2, 1, &log));
    EXPECT_FALSE(faster.is_valid());
    EXPECT_EQ(faster.counted().median, 1);
    BenchRow alike = row_of(std::make_unique<FakeContestant>("a", 1, 1.05, &log));
    EXPECT_TRUE(alike.is_valid());
    EXPECT_EQ(alike.counted().median, 1.05);
    BenchReport report;
    report.rows = {slower};
    EXPECT_THAT(to_json(report, Details::Yes), HasSubstr("the faster counts"));
    EXPECT_THAT(to_table(report), HasSubstr("the faster counts"));
}

TEST(Bench, ClaimsNothingOnAnUnfitMachine) {
    BenchReport report;
    report.rows.resize(2);
    for (BenchRow& row : report.rows) row.alone = row.in_turn = summarize({1});
    report.rows[0].name = "ollie";
    report.rows[1].name = "openvino";
    EXPECT_TRUE(report.speedup("ollie", "openvino"));
    report.after = {2, 1.2};
    EXPECT_FALSE(report.speedup("ollie", "openvino"));
    Json json = Json::parse(to_json(report, Details::Yes));
    EXPECT_FALSE(json["fit"]);
    EXPECT_TRUE(json["speedups"].empty());
    EXPECT_THAT(to_table(report), HasSubstr("unfit"));
}

TEST(Bench, MeasuresAChild) {
    BenchRow row = row_of(fake_rival("good"));
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.loaded.version, "1.2");
    EXPECT_THAT(row.loaded.settings, HasSubstr("{"));
    EXPECT_EQ(row.in_turn.runs, 6);
    EXPECT_DOUBLE_EQ(row.in_turn.median, 0.002);
    EXPECT_DOUBLE_EQ(*row.max_error_of_scale, 0.25);
}

TEST(Bench, ReportsAnAbsentRival) {
    BenchRow row = row_of(fake_rival("absent"));
    EXPECT_EQ(row.absent, "fake is not installed");
    BenchReport report;
    report.rows = {row};
    EXPECT_EQ(Json::parse(to_json(report))["rows"][0]["absent"], "fake is not installed");
    EXPECT_THAT(to_table(report), HasSubstr("absent: fake is not installed"));
}

TEST(Bench, ReportsFailuresWithWhatWasWritten) {
    EXPECT_THAT(row_of(fake_rival("refuses")).error,
                testing::AllOf(HasSubstr("cannot read models/with a space.onnx"),
                               HasSubstr("a library's grumbling")));
    EXPECT_THAT(row_of(fake_rival("crashes")).error,
                testing::AllOf(HasSubstr("signal 6"), HasSubstr("about to crash")));
    EXPECT_THAT(row_of(fake_rival("hangs", 0.1)).error, HasSubstr("no answer within"));
    EXPECT_THAT(row_of(fake_rival("babbles")).error, HasSubstr("not an answer: hello"));
}

TEST(Bench, OneFailureLeavesTheOthers) {
    std::string log;
    std::vector<std::unique_ptr<Contestant>> contestants;
    contestants.push_back(fake_rival("crashes"));
    contestants.push_back(std::make_unique<FakeContestant>("a", 1, 1, &log));
    BenchReport report = bench(small_case(), contestants, quick());
    EXPECT_FALSE(report.rows[0].has_times());
    EXPECT_TRUE(report.rows[1].has_times());
}

TEST(RivalScript, ReportsAbsenceOfItsPackages) {
    // -S leaves out all installed packages.
    Command command{{"python3", "-S", "tools/rivals/run_rival.py", "onnxruntime"}};
    BenchRow row = row_of(std::make_unique<ChildContestant>("onnxruntime", command));
    EXPECT_THAT(row.absent, HasSubstr("not installed"));
    EXPECT_THROW(rival("no such runtime"), UserError);
}

/// Writes a model that adds its input to itself.
void write_twice(const std::string& python, const std::filesystem::path& file) {
    const char* script = R"(
import sys
from onnx import TensorProto, helper, save
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "twice", [x], [y])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
     sys.argv[1])
print("written")
)";
    ChildProcess child(Command{{python, "-c", script, file.string()}});
    EXPECT_EQ(child.receive(60), "written");
}

TEST(RivalScript, RunsWhatIsInstalled) {
    TemporaryFolder folder;
    std::filesystem::path model = folder.path() / "a model.onnx";
    for (const std::string& name : known_rivals()) {
        OrRefusal<Command> command = rival_command(name);
        if (!command) GTEST_SKIP() << command.reason();
        write_twice(command->arguments.front(), model);
        BenchRow row = row_of(std::make_unique<ChildContestant>(name, *command, model.string()));
        if (!row.absent.empty()) continue;
        EXPECT_EQ(row.error, "");
        EXPECT_TRUE(row.has_times());
        EXPECT_DOUBLE_EQ(*row.max_error_of_scale, 0.5);  // 6 in place of 4.
    }
}

/// A program that answers `bench` with figures for every model but one named bad, and counts calls.
const char* const fake_program = R"(#!/bin/sh
echo "$2" >> "$(dirname "$0")/calls"
case "$2" in *bad*) echo "node n: no operator Foo" >&2; exit 2;; esac
cat <<end
{"model": "m", "threads": 2, "fit": true, "machine": {"cpu": "C", "isa": "I", "cores": 2},
 "rows": [{"name": "onnxruntime", "version": "1", "median_ms": 3},
          {"name": "openvino", "absent": "not installed"},
          {"name": "ollie", "version": "0", "median_ms": 2, "max_error_of_scale": 1e-6}]}
end
)";

int count_lines(const std::filesystem::path& path) {
    std::ifstream file(path);
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
}

TEST(BenchScript, PrintsATableAndResumes) {
    TemporaryFolder folder;
    std::filesystem::path program = folder.path() / "an ollie";
    std::ofstream(program) << fake_program;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    std::filesystem::path output = folder.path() / "results.json";
    auto run = [&](const std::string& last) {
        ChildProcess child(Command{{"sh", "-c", "python3 bench/run.py \"$@\" | tr '\\n' '|'; echo",
                                    "sh", "--ollie", program.string(), "--output", output.string(),
                                    "--", "some/net_b16.onnx", last}});
        return child.receive(60);
    };
    std::string table = run("bad.onnx");
    EXPECT_THAT(table, testing::ContainsRegex("net +16 +3 +- +- +2 +1.50 +- +1.0e-06"));
    EXPECT_THAT(table, HasSubstr("exit code 2: node n: no operator Foo"));
    EXPECT_THAT(table, HasSubstr("openvino absent: not installed"));
    EXPECT_EQ(count_lines(folder.path() / "calls"), 2);
    run("other_b1.onnx");  // The first is there already.
    EXPECT_EQ(count_lines(folder.path() / "calls"), 3);
    run("bad.onnx");  // What failed is tried again.
    EXPECT_EQ(count_lines(folder.path() / "calls"), 4);
}

TEST(Subject, AnswersThroughTheProtocol) {
    class Twice : public Subject {
    public:
        Loaded load(const LoadRequest& request) override {
            if (request.model == "bad") throw UserError("no such model");
            x_ = read_npy(request.inputs.at(0).file);
            return {"7", "none"};
        }
        void run_once() override { y_ = x_; }
        std::vector<NamedArray> outputs() override { return {{"y", y_}}; }

    private:
        HostArray x_, y_;
    };
    TemporaryFolder folder;
    write_npy(folder.path() / "x.npy", array_of({5, 6}));
    Json load = {{"do", "load"},
                 {"model", "good"},
                 {"cpus", processors_for(1)},
                 {"inputs", {{{"name", "x"}, {"file", folder.path() / "x.npy"}}}}};
    Json bad = load;
    bad["model"] = "bad";
    std::stringstream requests;
    requests << bad << "\nnot json\n"
             << load << "\n"
             << Json{{"do", "block"}, {"seconds", 0}, {"warm_seconds", 0}} << "\n"
             << Json{{"do", "run"}, {"into", folder.path().string()}} << "\n"
             << Json{{"do", "quit"}} << "\n"
             << load << "\n";
    std::vector<Json> replies;
    Twice subject;
    serve(subject, requests, [&](std::string_view line) { replies.push_back(Json::parse(line)); });
    ASSERT_EQ(replies.size(), 5U);
    EXPECT_EQ(replies[0]["error"], "no such model");
    EXPECT_FALSE(replies[1]["ok"]);
    EXPECT_EQ(replies[2]["version"], "7");
    EXPECT_EQ(replies[3]["nanoseconds"].size(), 2U);
    HostArray y = read_npy(replies[4]["outputs"][0]["file"].get<std::string>());
    EXPECT_EQ(y.at(1), 6);
}

TEST(MaxErrorOfScale, IsOfTheLargestElement) {
    HostArray exact = array_of({0, 10, -20}, ElementType::F64);
    EXPECT_EQ(max_error_of_scale(exact, exact), 0);
    EXPECT_DOUBLE_EQ(max_error_of_scale(array_of({1, 10, -20}), exact), 0.05);
    EXPECT_TRUE(std::isinf(max_error_of_scale(array_of({0, 10}), exact)));
    EXPECT_TRUE(std::isinf(max_error_of_scale(array_of({0, NAN, -20}), exact)));
    EXPECT_EQ(max_error_of_scale(array_of({0}), array_of({0})), 0);
    EXPECT_TRUE(std::isinf(max_error_of_scale(array_of({1e-30}), array_of({0}))));
    EXPECT_EQ(max_error_of_scale(array_of({}), array_of({})), 0);
    EXPECT_EQ(max_error_of_scale(array_of({NAN, INFINITY}), array_of({NAN, INFINITY})), 0);
}

}  // namespace
}  // namespace ollie::optimize
