// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/nodes/build_cache.h"
#include "core/nodes/cache_folder.h"
#include "core/nodes/compiler_log.h"
#include "core/nodes/device_model.h"
#include "core/nodes/emulated_node.h"
#include "core/nodes/local_node.h"
#include "core/nodes/nccl_probe.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace cuco {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Sets a variable of the environment for one test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name)
    {
        if (const char* now = std::getenv(name))
            before_ = now;
        ::setenv(name, value.c_str(), 1);
    }
    ~Variable()
    {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

/// A cache folder of the test's own.
class OwnCache : public testing::Test {
protected:
    OwnCache()
    {
        std::string name = testing::TempDir() + "cuco-cache-XXXXXX";
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
        variable.emplace("XDG_CACHE_HOME", name);
    }
    ~OwnCache() override { std::filesystem::remove_all(root); }

    std::filesystem::path root;
    std::optional<Variable> variable;
};

// ---- compiler logs

TEST(CompilerLog, NamesTheUsersLine)
{
    const auto fault = readCompilerLog(
        "candidate.cu: In function 'int f()':\n"
        "candidate.cu:41:9: error: 'foo' was not declared in this scope\n",
        "candidate.cu", {});
    EXPECT_EQ(fault.line, 41u);
    EXPECT_EQ(fault.first_error, "'foo' was not declared in this scope");
}

TEST(CompilerLog, NamesTheUsersLineThatLedIntoAHeader)
{
    const auto fault = readCompilerLog(
        "In file included from candidate.cu:5:\n"
        "/data/workloads/emulator/include/nccl.h:12:3: error: no such thing\n",
        "candidate.cu", {{"/data/workloads", ""}});
    EXPECT_EQ(fault.line, 5u);
    EXPECT_THAT(fault.log, Not(HasSubstr("/data/")));
    EXPECT_THAT(fault.log, HasSubstr("emulator/include/nccl.h:12:3"));
}

TEST(CompilerLog, ReadsNvcc)
{
    const auto fault = readCompilerLog(
        "candidate.cu(17): error: identifier \"x\" is undefined\n\n"
        "1 error detected in the compilation of \"candidate.cu\".\n",
        "candidate.cu", {});
    EXPECT_EQ(fault.line, 17u);
    EXPECT_EQ(fault.first_error, "identifier \"x\" is undefined");
}

TEST(CompilerLog, KeepsTheFirst64KiB)
{
    const auto fault = readCompilerLog("candidate.cu:3:1: error: a\n" + std::string(1 << 20, 'x'), "candidate.cu", {});
    EXPECT_LT(fault.log.size(), 66'000u);
    EXPECT_EQ(fault.line, 3u);
}

TEST(CompilerLog, SaysSoWhenTheCompilerSaidNothing)
{
    EXPECT_THAT(readCompilerLog("", "candidate.cu", {}).first_error, HasSubstr("without a message"));
    EXPECT_EQ(readCompilerLog("g++: internal trouble\n", "candidate.cu", {}).first_error, "g++: internal trouble");
}

// ---- job folders

class Jobs : public OwnCache {
protected:
    EmulatedNode node;
};

TEST_F(Jobs, AreRemovedWithTheirLastOwnerAndArePrivate)
{
    auto job = node.createJob();
    ASSERT_TRUE(job.has_value()) << describe(job.error());
    const auto path = (*job)->path();
    ASSERT_TRUE(node.put(**job, "a.txt", "text").has_value());
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    EXPECT_EQ(node.fetch(**job, "a.txt", 100), "text");
    job->reset();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Jobs, RefuseNamesThatLeaveTheFolder)
{
    const auto job = *node.createJob();
    for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("../x"),
                                    std::string("/etc/passwd"), std::string("a/b"), std::string("a\0b", 3)}) {
        EXPECT_FALSE(node.put(*job, name, "x").has_value()) << name;
        EXPECT_FALSE(node.fetch(*job, name, 100).has_value()) << name;
    }
}

TEST_F(Jobs, NeverReadOrWriteThroughALink)
{
    const auto job = *node.createJob();
    const auto secret = root / "secret";
    ASSERT_TRUE(writeFileAtomically(secret, "secret").has_value());
    std::filesystem::create_symlink(secret, job->path() / "link");
    EXPECT_FALSE(node.fetch(*job, "link", 100).has_value());
    EXPECT_TRUE(node.put(*job, "link", "mine").has_value());
    EXPECT_EQ(readFile(secret), "secret");
    EXPECT_EQ(node.fetch(*job, "link", 100), "mine");
}

TEST_F(Jobs, FetchNoMoreThanAllowedAndNoPipes)
{
    const auto job = *node.createJob();
    ASSERT_TRUE(node.put(*job, "big", std::string(1000, 'x')).has_value());
    EXPECT_FALSE(node.fetch(*job, "big", 999).has_value());
    EXPECT_TRUE(node.fetch(*job, "big", 1000).has_value());
    ASSERT_EQ(::mkfifo((job->path() / "pipe").c_str(), 0600), 0);
    EXPECT_FALSE(node.fetch(*job, "pipe", 1000).has_value());
}

TEST_F(Jobs, LeftByDeadProcessesADayAgoAreSweptAndOthersAreNot)
{
    const auto jobs = *cacheFolder("jobs");
    const auto make = [&](const std::string& name, std::chrono::hours age) {
        std::filesystem::create_directory(jobs / name);
        std::filesystem::last_write_time(jobs / name, std::filesystem::file_time_type::clock::now() - age);
        return jobs / name;
    };
    // Process numbers end at 2^22.
    const auto dead_old = make("99999999-aaaaaa", std::chrono::hours(25));
    const auto dead_new = make("99999999-bbbbbb", std::chrono::hours(1));
    const auto alive_old = make(std::to_string(::getpid()) + "-cccccc", std::chrono::hours(25));
    const auto not_ours = make("notes", std::chrono::hours(25));
    ASSERT_TRUE(node.createJob().has_value());
    EXPECT_FALSE(std::filesystem::exists(dead_old));
    EXPECT_TRUE(std::filesystem::exists(dead_new));
    EXPECT_TRUE(std::filesystem::exists(alive_old));
    EXPECT_TRUE(std::filesystem::exists(not_ours));
}

TEST_F(Jobs, CommandsSeeNoneOfOurSecrets)
{
    const Variable secret("CUCO_TEST_API_KEY", "sesame");
    Command command;
    command.argv = {findProgram("env")->string()};
    command.working_directory = root;
    command.environment = {{"LC_ALL", "C"}};
    const auto outcome = node.run(command, {});
    ASSERT_TRUE(outcome.has_value());
    EXPECT_THAT(outcome->out, HasSubstr("LC_ALL=C"));
    EXPECT_THAT(outcome->out, HasSubstr("PATH="));
    EXPECT_THAT(outcome->out, Not(HasSubstr("sesame")));
}

// ---- probes

TEST_F(Jobs, EmulatedProbeNamesThePackageWhenThereIsNoCompiler)
{
    const Variable path("PATH", root.string()), compiler("CXX", "");
    const auto probe = node.probe({});
    ASSERT_TRUE(probe.has_value());
    EXPECT_FALSE(probe->usable);
    ASSERT_EQ(probe->problems.size(), 1u);
    EXPECT_EQ(probe->problems[0].what, "No C++ compiler was found.");
    EXPECT_EQ(probe->problems[0].remedy, "Install it with: sudo apt install g++");
}

TEST_F(Jobs, EmulatedProbeIsUsableWithACompiler)
{
    const auto probe = node.probe({});
    ASSERT_TRUE(probe.has_value());
    EXPECT_TRUE(probe->usable);
    EXPECT_TRUE(probe->modelled);
    EXPECT_EQ(probe->max_ranks, 8);
    EXPECT_TRUE(probe->capabilities.contains("lsa"));
    EXPECT_EQ(toJson(*probe)["kind"], "emulated");
}

TEST_F(Jobs, LocalProbeSaysWhatIsMissingAndWhatToDo)
{
    const Variable path("PATH", root.string());
    LocalNode local;
    const auto probe = local.probe({});
    ASSERT_TRUE(probe.has_value());
    EXPECT_FALSE(probe->usable);
    for (const auto& problem : probe->problems)
        EXPECT_FALSE(problem.remedy.empty()) << problem.what;
    EXPECT_EQ(toJson(*probe)["usable"], false);
}

TEST(NcclProbe, ReadsTheHeadersVersion)
{
    EXPECT_EQ(ncclHeaderVersion("#define NCCL_MAJOR 2\n#define NCCL_MINOR 28\n#define NCCL_PATCH 9\n"), "2.28.9");
    EXPECT_EQ(ncclHeaderVersion("#define NCCL_MAJOR 2\n"), "");
}

TEST_F(OwnCache, NcclPairsHeadersWithLibrariesOfTheirVersion)
{
    const auto header = [&](const std::string& name, int minor) {
        std::ofstream(root / name) << "#define NCCL_MAJOR 2\n#define NCCL_MINOR " << minor
                                   << "\n#define NCCL_PATCH 1\n";
        return root / name;
    };
    std::ofstream(root / "libnccl.so.2.27.1") << "x";
    std::filesystem::create_symlink("libnccl.so.2.27.1", root / "libnccl.so.2");
    std::ofstream(root / "libnccl-other.so") << std::string(5 << 20, 'x') << "NCCL version 2.29.1+cuda13.0"
                                             << "x";

    const auto installs = pairNccl({header("h28.h", 28), header("h27.h", 27), header("h29.h", 29)},
                                   {root / "libnccl.so.2", root / "libnccl.so.2.27.1", root / "libnccl-other.so"});
    ASSERT_EQ(installs.size(), 3u);
    EXPECT_TRUE(installs[0].usable());
    EXPECT_EQ(installs[0].header_version, "2.29.1");
    EXPECT_EQ(installs[1].library_version, "2.27.1");
    EXPECT_TRUE(installs[1].usable());
    EXPECT_FALSE(installs[2].usable());
    EXPECT_EQ(installs[2].header_version, "2.28.1");
}

TEST_F(OwnCache, DeviceModelGivesTheBestRateOfEachKind)
{
    const auto file = root / "gpu.model";
    std::ofstream(file) << "# a GPU\ndevice_name  Some GPU (modelled)\ngemm_tflops 800 # measured\nwmma_tflops 500\n"
                           "hbm_gbps 4000\nlink_copy_gbps 395\nlink_store_gbps 347\nlink_load_gbps 300\n";
    const auto rates = readDeviceModel(file);
    ASSERT_TRUE(rates.has_value()) << describe(rates.error());
    EXPECT_DOUBLE_EQ(rates->flops_per_s, 800e12);
    EXPECT_DOUBLE_EQ(rates->link_bytes_per_s, 395e9);
    EXPECT_EQ(rates->source, "Some GPU (modelled)");
    std::ofstream(file) << "gemm_tflops 800\n";
    EXPECT_FALSE(readDeviceModel(file).has_value());
}

// ---- build cache

TEST_F(OwnCache, BuildIsDoneOnceForManyWhoWantIt)
{
    std::atomic<int> builds{0};
    const auto build = [&](const std::filesystem::path& folder) {
        ++builds;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return writeFileAtomically(folder / "program", "x");
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                const auto folder = cachedBuild("test", "key", {}, build);
                ASSERT_TRUE(folder.has_value());
                EXPECT_TRUE(std::filesystem::exists(*folder / "program"));
            });
    }
    EXPECT_EQ(builds, 1);
}

TEST_F(OwnCache, AFailedBuildLeavesNothing)
{
    const auto broken = [](const std::filesystem::path&) -> Result<void> { return failure("broken"); };
    EXPECT_FALSE(cachedBuild("test", "key", {}, broken).has_value());
    EXPECT_FALSE(std::filesystem::exists(root / "cuco" / "test" / "key"));
    const auto whole = [](const std::filesystem::path&) -> Result<void> { return {}; };
    EXPECT_TRUE(cachedBuild("test", "key", {}, whole).has_value());
}

TEST_F(OwnCache, WaitingForALockCanBeStopped)
{
    const auto held = FileLock::acquire(root / "lock", {});
    ASSERT_TRUE(held.has_value());
    std::stop_source stop;
    std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        stop.request_stop();
    });
    EXPECT_FALSE(FileLock::acquire(root / "lock", stop.get_token()).has_value());
}

TEST(BuildInputs, TellNamesFromContents)
{
    BuildInputs a, b, c;
    a.add("one", "x");
    a.add("two", "y");
    b.add("two", "y");
    b.add("one", "x");
    c.add("one", "y");
    c.add("two", "x");
    EXPECT_EQ(a.key(), b.key());
    EXPECT_NE(a.key(), c.key());
    EXPECT_EQ(a.key().size(), 64u);
}

TEST_F(OwnCache, RunBuildTellsWhatTheCompilerSaid)
{
    EmulatedNode node;
    const auto failed =
        runBuild(node, root, {{findProgram("ls")->string(), "/no/such/folder"}, {findProgram("true")->string()}}, {});
    ASSERT_FALSE(failed.has_value());
    EXPECT_THAT(failed.error().where, HasSubstr("/no/such/folder"));
}

}  // namespace
}  // namespace cuco
