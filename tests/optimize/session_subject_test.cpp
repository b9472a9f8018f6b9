#include "optimize/session_subject.h"

#include <functional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "optimize/temporary_folder.h"
#include "support/program_builder.h"

namespace ollie::optimize {
namespace {

using testing::counting;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using Json = nlohmann::json;

std::shared_ptr<const program::Program> twice(const LoadRequest&) {
    ProgramBuilder builder;
    builder.input("x", {2, 3})
        .output("y", {2, 3})
        .call("reference", {"x"}, {"y"},
              "input x: f32[2, 3]\noutput y: f32[i:2, j:3] = x[i, j] * 2");
    return builder.share();
}

/// What the subject answers to a load with this input, and to the requests after it.
std::vector<Json> talk(const std::string& name, const HostArray& x, const std::string& requests,
                       const TemporaryFolder& folder) {
    std::filesystem::path file = folder.path() / "x.npy";
    write_npy(file, x);
    Json load = {{"do", "load"},
                 {"model", "none"},
                 {"threads", 1},
                 {"cpus", processors_for(1)},
                 {"inputs", {{{"name", name}, {"file", file.string()}}}}};
    std::istringstream lines(load.dump() + "\n" + requests);
    std::vector<Json> replies;
    SessionSubject subject("0.1.0", twice);
    serve(subject, lines,
          [&](std::string_view line) { replies.push_back(Json::parse(std::string(line))); });
    return replies;
}

TEST(SessionSubject, RunsTheProgramOnTheInputsInPlace) {
    TemporaryFolder folder;
    Json run = {{"do", "run"}, {"into", folder.path().string()}};
    auto replies = talk("x", counting({2, 3}),
                        run.dump() + "\n{\"do\": \"block\", \"seconds\": 0.001}\n", folder);
    ASSERT_EQ(replies.size(), 3u);
    EXPECT_EQ(replies[0]["version"], "0.1.0");
    ASSERT_EQ(replies[1]["outputs"].size(), 1u) << replies[1].dump();
    EXPECT_EQ(replies[1]["outputs"][0]["name"], "y");
    HostArray y = read_npy(replies[1]["outputs"][0]["file"].get<std::string>());
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(y.at(i), 2 * static_cast<double>(i));
    EXPECT_GE(replies[2]["nanoseconds"].size(), 2u);
}

TEST(SessionSubject, SaysWhichInputIsMissing) {
    TemporaryFolder folder;
    auto replies = talk("z", counting({2, 3}), "", folder);
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0]["ok"], false);
    EXPECT_THAT(replies[0]["error"].get<std::string>(), HasSubstr("no value for input 'x'"));
}

TEST(SessionSubject, SaysWhatShapeIsWanted) {
    TemporaryFolder folder;
    auto replies = talk("x", counting({3, 2}), "", folder);
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_THAT(replies[0]["error"].get<std::string>(), HasSubstr("is f32 2x3"));
    EXPECT_THAT(replies[0]["error"].get<std::string>(), HasSubstr("f32 3x2 was given"));
}

}  // namespace
}  // namespace ollie::optimize
