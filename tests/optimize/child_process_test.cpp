#include "optimize/child_process.h"

#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace ollie::optimize {
namespace {

using ::testing::HasSubstr;

Command shell(const std::string& script) { return Command{{"sh", "-c", script}}; }

std::string failure_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.what();
    }
    return "no error";
}

/// The third field of /proc/ID/stat: R, S, T (stopped), Z; empty if there is no such process.
std::string state_of(int id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string number, name, state;
    file >> number >> name >> state;
    return state;
}

bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 500; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST(ChildProcess, AnswersLines) {
    ChildProcess child(shell("while read line; do echo \"<$line>\"; done"));
    child.send("one");
    EXPECT_EQ(child.receive(10), "<one>");
    child.send("two");
    child.send("three");
    EXPECT_EQ(child.receive(10), "<two>");
    EXPECT_EQ(child.receive(10), "<three>");
}

TEST(ChildProcess, CarriesLongLines) {
    ChildProcess child(shell("read line; echo \"$line\"; cat"));
    std::string text(300000, 'x');
    child.send(text);
    EXPECT_EQ(child.receive(10), text);
}

TEST(ChildProcess, GetsItsEnvironment) {
    Command command = shell("echo \"$GIVEN and $HOME\"");
    command.environment = {{"GIVEN", "a b"}, {"HOME", "changed"}};
    ChildProcess child(command);
    EXPECT_EQ(child.receive(10), "a b and changed");
}

TEST(ChildProcess, SaysHowItEnded) {
    ChildProcess child(shell("echo it hurts >&2; exit 3"));
    std::string message = failure_of([&] { child.receive(10); });
    EXPECT_THAT(message, HasSubstr("status 3"));
    EXPECT_THAT(message, HasSubstr("it hurts"));
    EXPECT_THAT(failure_of([&] { child.send("x"); }), HasSubstr("ended before"));
}

TEST(ChildProcess, SaysWhichSignalEndedIt) {
    ChildProcess child(shell("kill -9 $$"));
    EXPECT_THAT(failure_of([&] { child.receive(10); }), HasSubstr("signal 9"));
}

TEST(ChildProcess, SurvivesSendingToTheDead) {
    ChildProcess child(shell("exit 0"));
    EXPECT_TRUE(comes_true([&] { return state_of(child.id()) == "Z"; }));
    child.send(std::string(1000000, 'x'));
    EXPECT_THAT(failure_of([&] { child.receive(10); }), HasSubstr("status 0"));
}

TEST(ChildProcess, IsKilledWhenLate) {
    ChildProcess child(shell("echo waiting >&2; exec sleep 1000"));
    EXPECT_TRUE(comes_true([&] { return child.error_output() == "waiting"; }));
    std::string message = failure_of([&] { child.receive(0.05); });
    EXPECT_THAT(message, HasSubstr("no answer within 0.05 s"));
    EXPECT_THAT(message, HasSubstr("waiting"));
    EXPECT_EQ(state_of(child.id()), "");
}

TEST(ChildProcess, SaysThatAProgramIsMissing) {
    ChildProcess child(Command{{"/no such folder/program"}});
    std::string message = failure_of([&] { child.receive(10); });
    EXPECT_THAT(message, HasSubstr("/no such folder/program"));
    EXPECT_THAT(message, HasSubstr("No such file or directory"));
}

TEST(ChildProcess, StopsAndGoesOn) {
    ChildProcess child(shell("while read line; do echo \"$line\"; done"));
    child.suspend();
    EXPECT_EQ(state_of(child.id()), "T");
    child.send("meanwhile");
    child.resume();
    EXPECT_EQ(child.receive(10), "meanwhile");
}

TEST(ChildProcess, DiesWithItsObjectEvenWhenStopped) {
    int id = 0;
    {
        ChildProcess child(shell("exec sleep 1000"));
        id = child.id();
        child.suspend();
    }
    EXPECT_EQ(state_of(id), "");
}

TEST(ChildProcess, DiesWithItsParent) {
    int ids[2];
    ASSERT_EQ(pipe(ids), 0);
    pid_t parent = fork();
    if (parent == 0) {
        ChildProcess child(shell("exec sleep 1000"));
        int id = child.id();
        ssize_t written = write(ids[1], &id, sizeof id);
        kill(getpid(), written == sizeof id ? SIGKILL : SIGTERM);
    }
    int id = 0;
    ASSERT_EQ(read(ids[0], &id, sizeof id), static_cast<ssize_t>(sizeof id));
    waitpid(parent, nullptr, 0);
    EXPECT_TRUE(comes_true([&] { return state_of(id).empty() || state_of(id) == "Z"; }));
}

}  // namespace
}  // namespace ollie::optimize
