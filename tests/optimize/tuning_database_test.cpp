#include "optimize/tuning_database.h"

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "optimize/temporary_folder.h"

namespace ollie::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Access = TuningDatabase::Access;

const TuningContext here{"a processor", "a library 1.0", 2};

class Tuning : public ::testing::Test {
protected:
    std::unique_ptr<TuningDatabase> open(Access access = Access::Update,
                                         const TuningContext& context = here) {
        return std::make_unique<TuningDatabase>(file(), context, access);
    }
    std::filesystem::path file() const { return folder_.path() / "deeper/tuning.sqlite"; }
    void write(const std::string& text) {
        std::filesystem::create_directories(file().parent_path());
        std::ofstream(file(), std::ios::binary) << text;
    }
    static std::string read(const std::filesystem::path& path) {
        std::ifstream stream(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

private:
    TemporaryFolder folder_;
};

TEST_F(Tuning, KeepsTimes) {
    open()->store("kernel 1", 0.25);
    auto again = open();
    EXPECT_EQ(again->find("kernel 1"), 0.25);
    EXPECT_EQ(again->find("kernel 2"), std::nullopt);
    EXPECT_THAT(again->notes(), IsEmpty());
}

TEST_F(Tuning, TheFirstTimeStays) {
    auto one = open();
    auto other = open();
    one->store("kernel", 1);
    other->store("kernel", 2);
    EXPECT_EQ(open()->find("kernel"), 1);
}

TEST_F(Tuning, AnythingElseThanTheContextIsAMiss) {
    open()->store("kernel", 1);
    for (const TuningContext& other :
         {TuningContext{"another", "a library 1.0", 2}, TuningContext{"a processor", "2.0", 2},
          TuningContext{"a processor", "a library 1.0", 1}})
        EXPECT_EQ(open(Access::Update, other)->find("kernel"), std::nullopt);
}

TEST_F(Tuning, FrozenReadsAndDoesNotWrite) {
    open()->store("kernel", 1);
    auto frozen = open(Access::Frozen);
    EXPECT_EQ(frozen->find("kernel"), 1);
    frozen->store("more", 2);
    EXPECT_EQ(frozen->find("more"), 2);
    EXPECT_EQ(open()->find("more"), std::nullopt);
}

TEST_F(Tuning, FrozenCreatesNothing) {
    EXPECT_EQ(open(Access::Frozen)->find("kernel"), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(Tuning, InMemoryWithoutAFile) {
    TuningDatabase database;
    database.store("kernel", 1);
    EXPECT_EQ(database.find("kernel"), 1);
}

TEST_F(Tuning, WhatIsNoDatabaseIsRenamed) {
    write(
        "rubbish, and enough of it to be longer than the header of a database file is, one "
        "hundred bytes");
    std::string before = read(file());
    auto database = open();
    ASSERT_EQ(database->notes().size(), 1u);
    EXPECT_THAT(database->notes()[0], HasSubstr("tuning.sqlite.corrupt"));
    EXPECT_EQ(read(file().string() + ".corrupt"), before);
    database->store("kernel", 1);
    EXPECT_EQ(open()->find("kernel"), 1);
    database.reset();
    write(
        "rubbish again, which is longer than one hundred bytes too because it has so many words "
        "in it, believe me");
    open();
    EXPECT_TRUE(std::filesystem::exists(file().string() + ".corrupt.1"));
}

TEST_F(Tuning, ATornFileIsRenamed) {
    {
        auto database = open();
        for (int i = 0; i < 2000; ++i) database->store(fmt::format("kernel {}", i), 1);
    }
    std::string whole = read(file());
    ASSERT_GT(whole.size(), 20000u);
    for (size_t i = whole.size() / 3; i < 2 * whole.size() / 3; ++i) whole[i] = '\x55';
    write(whole);
    auto database = open();
    ASSERT_EQ(database->notes().size(), 1u);
    database->store("kernel", 1);
    EXPECT_EQ(open()->find("kernel"), 1);
}

TEST_F(Tuning, AFrozenDamagedFileIsLeft) {
    write(std::string(200, 'x'));
    auto frozen = open(Access::Frozen);
    EXPECT_EQ(frozen->notes().size(), 1u);
    EXPECT_EQ(frozen->find("kernel"), std::nullopt);
    EXPECT_EQ(read(file()), std::string(200, 'x'));
}

TEST_F(Tuning, AFolderThatCannotBeUsedIsNoted) {
    TuningDatabase database("/proc/none/tuning.sqlite", here, Access::Update);
    EXPECT_EQ(database.notes().size(), 1u);
    database.store("kernel", 1);
    EXPECT_EQ(database.find("kernel"), 1);
}

TEST_F(Tuning, AnEmptyFileIsANewOne) {
    write("");
    auto database = open();
    EXPECT_THAT(database->notes(), IsEmpty());
    database->store("kernel", 1);
    EXPECT_EQ(open()->find("kernel"), 1);
}

int child(const std::function<void()>& body) {
    int id = fork();
    if (id != 0) return id;
    try {
        body();
    } catch (...) {
        _exit(1);
    }
    _exit(0);
}

int status_of(int id) {
    int status = -1;
    waitpid(id, &status, 0);
    return status;
}

TEST_F(Tuning, ProcessesShareOneFile) {
    constexpr int processes = 5;
    constexpr int times = 40;
    std::vector<int> ids;
    for (int p = 0; p < processes; ++p)
        ids.push_back(child([&] {
            auto database = open();
            for (int i = 0; i < times; ++i) database->store(fmt::format("{} {}", p, i), 1);
            if (!database->notes().empty()) throw UserError(database->notes()[0]);
        }));
    for (int id : ids) EXPECT_EQ(status_of(id), 0);
    auto database = open();
    EXPECT_THAT(database->notes(), IsEmpty());
    EXPECT_EQ(database->size(), static_cast<size_t>(processes * times));
}

TEST_F(Tuning, ProcessesThatMeetDamageTogetherRenameItOnce) {
    write(std::string(5000, 'x'));
    std::vector<int> ids;
    for (int p = 0; p < 5; ++p)
        ids.push_back(child([&] { open()->store(fmt::format("{}", p), 1); }));
    for (int id : ids) EXPECT_EQ(status_of(id), 0);
    EXPECT_EQ(open()->size(), 5u);
    EXPECT_FALSE(std::filesystem::exists(file().string() + ".corrupt.1"));
}

TEST_F(Tuning, SurvivesAProcessThatIsKilled) {
    for (int round = 0; round < 10; ++round) {
        int pipe_ends[2];
        ASSERT_EQ(pipe(pipe_ends), 0);
        int id = child([&] {
            auto database = open();
            for (int i = 0;; ++i) {
                database->store(fmt::format("{} {}", round, i), 1);
                if (i == 5 + 7 * round && ::write(pipe_ends[1], "x", 1) != 1) return;
            }
        });
        char byte;
        ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
        kill(id, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(status_of(id)));
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        auto database = open();
        EXPECT_THAT(database->notes(), IsEmpty());
        for (int i = 0; i <= 5 + 7 * round; ++i)
            EXPECT_EQ(database->find(fmt::format("{} {}", round, i)), 1) << round << " " << i;
    }
}

TEST_F(Tuning, ADatabaseOfAnotherProgramIsRefused) {
    std::filesystem::create_directories(file().parent_path());
    std::string make = "sqlite3 '" + file().string() + "' 'CREATE TABLE theirs (x)'";
    if (std::system(make.c_str()) != 0) GTEST_SKIP() << "no sqlite3 program";
    std::string before = read(file());
    EXPECT_THROW(open(), UserError);
    EXPECT_THROW(open(Access::Frozen), UserError);
    EXPECT_EQ(read(file()), before);
}

TEST(TuningContextTest, NamesTheMachineAndTheLibraries) {
    TuningContext context = tuning_context(3);
    EXPECT_EQ(context.threads, 3);
    EXPECT_THAT(context.versions, HasSubstr("oneDNN 3"));
    EXPECT_THAT(context.versions, HasSubstr("Halide"));
    EXPECT_THAT(context.device, HasSubstr("avx"));
}

}  // namespace
}  // namespace ollie::optimize
