// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "core/run/timeline_blob.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using testing::readText;
using testing::TemporaryFolder;
using testing::writeText;

RunConfig someConfig()
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.seed = 7;
    return config;
}

Candidate someCandidate(int number)
{
    Candidate candidate;
    candidate.number = number;
    candidate.id = fmt::format("c{}", number);
    candidate.parents =
        number > 0 ? std::vector<std::string>{fmt::format("c{}", number - 1)} : std::vector<std::string>{};
    candidate.island = number % 2;
    candidate.generation = number;
    candidate.proposer = "tunable";
    candidate.summary = "ctas 8 → 16";
    candidate.strategy = "fused";
    candidate.directive = {"lsa", "fused", "tile", "cta", 1048576};
    candidate.tunables = {{"ctas", 16}, {"rows", -1}};
    candidate.source_sha256 = sha256Hex(fmt::format("// text {}", number));
    candidate.cost_usd = 0.25;
    return candidate;
}

Evaluation someEvaluation()
{
    Evaluation evaluation;
    evaluation.stage = Stage::profile;
    evaluation.modelled = true;
    ShapeTiming timing;
    timing.shape = "256";
    timing.ranks = 4;
    timing.samples_us = {10.5, 11.5};
    timing.baseline_samples_us = {20, 22};
    timing.baseline = "host.cu";
    timing.time_us = 11;
    timing.baseline_us = 21;
    timing.speedup = 1.9;
    timing.ci_low = 1.8;
    timing.ci_high = 2.0;
    timing.bound_us = 8;
    evaluation.timings = {timing};
    return evaluation;
}

Timeline someTimeline()
{
    Timeline timeline;
    timeline.title = "256, 4 ranks";
    timeline.lanes.push_back({1, "stream 0", {{0, 1000, timeline.nameIndex("gemm"), 0, 64, Activity::compute}}});
    return timeline;
}

class RunFileTest : public ::testing::Test {
protected:
    std::unique_ptr<RunFile> create()
    {
        auto file = RunFile::create(path, someConfig());
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    std::unique_ptr<RunFile> open(RunFile::Access access)
    {
        auto file = RunFile::open(path, access);
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    Error openFailure(RunFile::Access access)
    {
        auto file = RunFile::open(path, access);
        EXPECT_FALSE(file);
        return file ? Error{} : file.error();
    }
    /// Settled candidates c0 … c(count − 1).
    void fill(RunFile& file, int count)
    {
        for (int number = 0; number < count; ++number) {
            Candidate candidate = someCandidate(number);
            ASSERT_TRUE(file.addCandidate(candidate, fmt::format("// text {}", number), {}));
            candidate.state = CandidateState::settled;
            candidate.evaluation = someEvaluation();
            ASSERT_TRUE(file.settleCandidate(candidate, someTimeline()));
        }
    }
    void sql(const std::string& statement)
    {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database);
        sqlite3_close(database);
    }
    std::vector<std::string> namesInFolder() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }

    TemporaryFolder folder;
    std::filesystem::path path = folder / "run.cuco";
};

TEST_F(RunFileTest, ReadsBackAsItWasWritten)
{
    {
        auto file = create();
        ASSERT_TRUE(file->addBaseline({"host.cu", someEvaluation()}, "// host", someTimeline(), true));
        fill(*file, 2);
        AgentStep parent;
        parent.id = 1;
        parent.agent = "tunable proposer";
        AgentStep child = parent;
        child.id = 2;
        child.parent = 1;
        ASSERT_TRUE(file->addCandidate(someCandidate(2), "// text 2", {parent, child}));
        ASSERT_TRUE(file->addDecision({1, "c1", DecisionKind::promoted, "fast", 123, false, {}, {}}));
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 124}));
        ASSERT_TRUE(file->addLog({456, "warning", "text"}));
        ASSERT_TRUE(file->setState(RunState::stopped, "because"));
    }
    auto file = open(RunFile::Access::read);
    const auto snapshot = file->snapshot();
    ASSERT_TRUE(snapshot) << describe(snapshot.error());
    EXPECT_EQ(toJson(snapshot->config), toJson(someConfig()));
    EXPECT_EQ(snapshot->state, RunState::stopped);
    EXPECT_EQ(snapshot->message, "because");
    EXPECT_TRUE(snapshot->modelled);
    ASSERT_EQ(snapshot->baselines.size(), 1u);
    EXPECT_EQ(toJson(snapshot->baselines[0].evaluation), toJson(someEvaluation()));
    ASSERT_EQ(snapshot->candidates.size(), 3u);
    Candidate expected = someCandidate(1);
    expected.state = CandidateState::settled;
    expected.evaluation = someEvaluation();
    expected.decision = DecisionKind::promoted;
    expected.decision_reason = "fast";
    EXPECT_EQ(toJson(snapshot->candidates[1]), toJson(expected));
    EXPECT_EQ(toJson(*snapshot->candidates[1].evaluation), toJson(someEvaluation()));
    EXPECT_EQ(snapshot->candidates[2].state, CandidateState::proposed);
    EXPECT_EQ(toJson(snapshot->candidates[2]), toJson(someCandidate(2)));
    ASSERT_EQ(snapshot->decisions.size(), 1u);
    EXPECT_EQ(snapshot->decisions[0].time_ms, 123);
    ASSERT_EQ(snapshot->log.size(), 1u);
    EXPECT_EQ(snapshot->log[0].text, "text");

    EXPECT_EQ(file->source("c1").value(), "// text 1");
    EXPECT_EQ(file->baselineSource("host.cu").value(), "// host");
    EXPECT_EQ(toJson(file->timeline("c1").value().value()), toJson(someTimeline()));
    EXPECT_EQ(toJson(file->baselineTimeline("host.cu").value().value()), toJson(someTimeline()));
    EXPECT_FALSE(file->timeline("c2").value());
    EXPECT_FALSE(file->evaluation("c2").value());
    const auto steps = file->steps().value();
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].parent, steps[0].id);
}

TEST_F(RunFileTest, NumbersStepsThroughoutTheRun)
{
    auto file = create();
    std::vector<AgentStep> two(2);
    two[0].id = 1;
    two[1].id = 2;
    two[1].parent = 1;
    ASSERT_TRUE(file->addCandidate(someCandidate(0), "// text 0", two));
    const auto stored = file->addCandidate(someCandidate(1), "// text 1", two);
    ASSERT_TRUE(stored);
    EXPECT_EQ((*stored)[0].id, 3);
    EXPECT_EQ((*stored)[0].parent, 0);
    EXPECT_EQ((*stored)[1].parent, 3);
}

TEST_F(RunFileTest, KeepsTheTextThatWasProposedBesideTheOneWithTheMachinesNumbers)
{
    auto file = create();
    fill(*file, 1);
    Candidate candidate = someCandidate(1);
    ASSERT_TRUE(file->addCandidate(candidate, "// text 1", {}));
    const std::string tuned = "// text 1, tuned";
    candidate.proposed_sha256 = std::exchange(candidate.source_sha256, sha256Hex(tuned));
    candidate.tunables = {{"ctas", 16}};
    candidate.evaluation = someEvaluation();
    ASSERT_TRUE(file->settleCandidate(candidate, std::nullopt, &tuned));
    const auto candidates = file->snapshot()->candidates;
    EXPECT_EQ(candidates[0].proposed_sha256, "");
    EXPECT_EQ(candidates[1].proposed_sha256, sha256Hex("// text 1"));
    EXPECT_EQ(file->source("c1").value(), tuned);
    sql("INSERT INTO proposed_texts SELECT 7, sha256 FROM sources LIMIT 1");
    EXPECT_THAT(file->snapshot().error().what, HasSubstr("proposed_texts.candidate"));
}

TEST_F(RunFileTest, KeepsACompilersLogWholeButLeavesMostOfItOutOfSnapshots)
{
    auto file = create();
    ASSERT_TRUE(file->addCandidate(someCandidate(0), "// text 0", {}));
    Candidate candidate = someCandidate(0);
    candidate.evaluation.emplace();
    candidate.evaluation->verdict = Verdict::compile_error;
    candidate.evaluation->detail = std::string(100'000, 'e');
    ASSERT_TRUE(file->settleCandidate(candidate, std::nullopt));
    EXPECT_EQ(file->snapshot()->candidates[0].evaluation->detail.size(), 4'000u);
    EXPECT_EQ(file->evaluation("c0")->value().detail.size(), 100'000u);
}

TEST_F(RunFileTest, IsOneFileWhenClosed)
{
    {
        auto file = create();
        fill(*file, 3);
        EXPECT_GT(namesInFolder().size(), 1u);
    }
    EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
}

TEST_F(RunFileTest, RefusesToReplaceAFile)
{
    writeText(path, "precious");
    const auto file = RunFile::create(path, someConfig());
    ASSERT_FALSE(file);
    EXPECT_FALSE(file.error().remedy.empty());
    EXPECT_EQ(readText(path), "precious");
}

TEST_F(RunFileTest, SaysThatAFileIsMissing)
{
    EXPECT_EQ(openFailure(RunFile::Access::read).what, "There is no such file");
    EXPECT_EQ(openFailure(RunFile::Access::write).what, "There is no such file");
    EXPECT_TRUE(namesInFolder().empty());
}

TEST_F(RunFileTest, RefusesWhatIsNoRunFileAndLeavesItAsItIs)
{
    for (const std::string& contents : {std::string(), std::string("hello"), std::string(100'000, 'x')}) {
        writeText(path, contents);
        for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
            EXPECT_EQ(openFailure(access).what, "This is no run file");
            EXPECT_EQ(readText(path), contents);
            EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
        }
    }
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_EQ(openFailure(RunFile::Access::write).what, "This is no run file");
}

TEST_F(RunFileTest, RefusesAnotherProgramsDatabaseAndLeavesItAsItIs)
{
    sql("PRAGMA journal_mode = WAL; CREATE TABLE precious (x); INSERT INTO precious VALUES (1)");
    const std::string before = readText(path);
    for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
        EXPECT_EQ(openFailure(access).what, "This is no run file");
        EXPECT_EQ(readText(path), before);
        EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
    }
}

TEST_F(RunFileTest, IsWholeWhereTheDiskWasTooFullForItsLogToBeWrittenBack)
{
    constexpr std::size_t page_bytes = 4096;
    const std::string log_path = path.string() + "-wal";
    std::string log;
    {
        auto file = create();
        fill(*file, 20);
        log = readText(log_path);
    }
    const std::string whole = readText(path);
    ASSERT_GT(log.size(), 10 * page_bytes);
    // The first page, which tells how many there are, was written back; the last ones did not fit.
    for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
        writeText(path, whole.substr(0, whole.size() - 3 * page_bytes));
        writeText(log_path, log);
        EXPECT_EQ(open(access)->snapshot()->candidates.size(), 20u);
    }
    EXPECT_EQ(open(RunFile::Access::read)->snapshot()->candidates.size(), 20u);
    EXPECT_FALSE(std::filesystem::exists(log_path)) << "the writer has written it back";
}

TEST_F(RunFileTest, NamesTheFormatOfANewerFile)
{
    create();
    sql("PRAGMA user_version = 99");
    const Error error = openFailure(RunFile::Access::write);
    EXPECT_THAT(error.what, HasSubstr("format 99"));
    EXPECT_THAT(error.remedy, HasSubstr("newer version"));
}

Decision somePromotion(int id, const std::string& candidate_id)
{
    Decision decision;
    decision.id = id;
    decision.candidate_id = candidate_id;
    decision.reason = "fast";
    decision.time_ms = 1000 + id;
    return decision;
}

TEST_F(RunFileTest, KeepsWhatAPromotionMeasured)
{
    {
        auto file = create();
        fill(*file, 2);
        ASSERT_TRUE(file->addDecision(somePromotion(1, "c1")));
        EXPECT_EQ(file->snapshot()->decisions[0].standing, PromotionStanding::pending);
        EXPECT_FALSE(file->snapshot()->candidates[1].decision);
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 77}));
    }
    auto file = open(RunFile::Access::read);
    const auto snapshot = file->snapshot().value();
    EXPECT_EQ(snapshot.decisions[0].standing, PromotionStanding::stands);
    EXPECT_EQ(snapshot.decisions[0].finding, "It is faster.");
    EXPECT_EQ(snapshot.candidates[1].decision, DecisionKind::promoted);
    const auto again = file->remeasurements("c1").value();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].time_ms, 77);
    EXPECT_EQ(again[0].evaluation.timings.at(0).samples_us, someEvaluation().timings[0].samples_us);
    EXPECT_TRUE(file->remeasurements("c0")->empty());
}

TEST_F(RunFileTest, KeepsTheNodesItRanOn)
{
    auto file = create();
    fill(*file, 1);
    for (const char* probe : {R"({"node":"a"})", R"({"node":"a"})", R"({"node":"b"})", R"({"node":"a"})"})
        ASSERT_TRUE(file->addEnvironment(probe));
    const auto environments = file->environments().value();
    ASSERT_EQ(environments.size(), 3u);
    EXPECT_EQ(environments[1].probe, R"({"node":"b"})");
    EXPECT_GT(environments[0].time_ms, 0);
    EXPECT_TRUE(file->settledMs("c0").value().has_value());
    EXPECT_FALSE(file->settledMs("c9").value().has_value());
}

TEST_F(RunFileTest, ReadsAFileOfAnOlderFormatAndBringsItUpToDate)
{
    fill(*create(), 2);
    sql("DROP TABLE remeasurements; DROP TABLE environments; DROP TABLE proposed_texts; PRAGMA user_version = 2;"
        "INSERT INTO decisions VALUES (1, 'c1', 'promoted', 'fast', 5, 0)");
    {
        auto file = open(RunFile::Access::read);
        const auto snapshot = file->snapshot();
        ASSERT_TRUE(snapshot) << describe(snapshot.error());
        EXPECT_EQ(snapshot->decisions.at(0).standing, PromotionStanding::pending);
        EXPECT_TRUE(file->remeasurements("c1")->empty());
        EXPECT_TRUE(file->environments()->empty());
    }
    auto file = open(RunFile::Access::write);
    ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::refused, "It is slower.", someEvaluation(), 77}));
    EXPECT_EQ(file->snapshot()->decisions.at(0).standing, PromotionStanding::refused);
}

TEST_F(RunFileTest, NamesAStandingThatIsNone)
{
    {
        auto file = create();
        fill(*file, 1);
        ASSERT_TRUE(file->addDecision(somePromotion(1, "c0")));
        ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "", someEvaluation(), 77}));
    }
    sql("UPDATE remeasurements SET standing = 'perhaps'");
    const auto snapshot = open(RunFile::Access::read)->snapshot();
    ASSERT_FALSE(snapshot);
    EXPECT_THAT(snapshot.error().what, HasSubstr("perhaps"));
}

TEST_F(RunFileTest, NoticesATruncatedFile)
{
    fill(*create(), 20);
    const auto size = std::filesystem::file_size(path);
    for (const auto part : {size / 2, size - 4096, size - 1}) {
        const TemporaryFolder elsewhere;
        std::filesystem::copy_file(path, elsewhere / "cut.cuco");
        std::filesystem::resize_file(elsewhere / "cut.cuco", part);
        for (const auto access : {RunFile::Access::read, RunFile::Access::write}) {
            const auto file = RunFile::open(elsewhere / "cut.cuco", access);
            ASSERT_FALSE(file) << part << " of " << size;
            EXPECT_THAT(file.error().what, HasSubstr("damaged"));
            EXPECT_FALSE(file.error().remedy.empty());
            EXPECT_EQ(std::filesystem::file_size(elsewhere / "cut.cuco"), part);
        }
    }
}

TEST_F(RunFileTest, SurvivesAnyOverwrittenPage)
{
    fill(*create(), 8);
    const std::string whole = readText(path);
    int refused = 0;
    for (std::size_t page = 0; page < whole.size(); page += 4096) {
        std::string spoiled = whole;
        spoiled.replace(page + 8, 200, std::string(200, '\xa5'));
        writeText(path, spoiled);
        auto file = RunFile::open(path, RunFile::Access::read);
        // What quick_check cannot notice (the text of a source) must still not crash.
        if (!file || !(*file)->snapshot() || !(*file)->source("c3") || !(*file)->timeline("c3"))
            ++refused;
    }
    EXPECT_GT(refused, 3);
}

TEST_F(RunFileTest, NoticesASourceThatIsNotTheOneItStored)
{
    fill(*create(), 1);
    sql("UPDATE sources SET text = '// text 9'");
    const auto source = open(RunFile::Access::read)->source("c0");
    ASSERT_FALSE(source);
    EXPECT_THAT(source.error().what, HasSubstr("checksum"));
}

TEST_F(RunFileTest, LetsInOneWriterOnly)
{
    auto writer = create();
    const Error error = openFailure(RunFile::Access::write);
    EXPECT_EQ(error.what, fmt::format("The run is open in another program (pid {})", ::getpid()));
    EXPECT_EQ(error.remedy, "Close it there, or open it read-only.");
    const auto link = folder / "link.cuco";
    std::filesystem::create_symlink(path, link);
    EXPECT_FALSE(RunFile::open(link, RunFile::Access::write));
    writer.reset();
    EXPECT_TRUE(open(RunFile::Access::write));
}

TEST_F(RunFileTest, LetsAReaderWorkBesideTheWriter)
{
    auto writer = create();
    auto reader = open(RunFile::Access::read);
    fill(*writer, 2);
    EXPECT_EQ(reader->snapshot()->candidates.size(), 2u);
    EXPECT_FALSE(reader->setState(RunState::finished, ""));
    writer.reset();
    EXPECT_EQ(reader->snapshot()->candidates.size(), 2u);
    EXPECT_EQ(reader->source("c1").value(), "// text 1");
}

TEST_F(RunFileTest, LeavesTheFileAloneWhenReading)
{
    fill(*create(), 2);
    const std::string before = readText(path);
    EXPECT_TRUE(open(RunFile::Access::read)->snapshot());
    EXPECT_EQ(readText(path), before);
    EXPECT_EQ(namesInFolder(), std::vector<std::string>{"run.cuco"});
}

TEST_F(RunFileTest, ReportsARunThatNobodyRunsAnyMoreAsStopped)
{
    {
        auto file = create();
        ASSERT_TRUE(file->setState(RunState::running, ""));
        EXPECT_EQ(open(RunFile::Access::read)->snapshot()->state, RunState::running);
    }
    const auto snapshot = open(RunFile::Access::read)->snapshot();
    EXPECT_EQ(snapshot->state, RunState::stopped);
    EXPECT_THAT(snapshot->message, HasSubstr("resume"));
}

TEST_F(RunFileTest, NamesColumnAndRowOfAnUnknownValue)
{
    fill(*create(), 2);
    const std::string whole = readText(path);
    for (const auto& [statement, column] : std::vector<std::pair<std::string, std::string>>{
             {"UPDATE candidates SET state = 'flying' WHERE id = 'c1'", "candidates.state of candidate c1"},
             {"UPDATE candidates SET tunables = '{\"a\": 1.5}' WHERE id = 'c1'", "candidates.tunables of candidate c1"},
             {"UPDATE candidates SET directive = '[' WHERE id = 'c1'", "candidates.directive of candidate c1"},
             {"UPDATE candidates SET parents = '[3]' WHERE id = 'c0'", "candidates.parents of candidate c0"},
             {"UPDATE candidates SET island = -1 WHERE id = 'c0'", "candidates.island of candidate c0"},
             {"UPDATE candidates SET number = 17 WHERE id = 'c1'; DELETE FROM evaluations WHERE candidate = 1",
              "candidates.state of candidate c1"},
             {"UPDATE evaluations SET document = '{}' WHERE candidate = 1", "evaluations.document of candidate c1"},
             {"UPDATE run SET state = 'flying'", "run.state"},
             {"UPDATE run SET config = '7'", "run.config"},
             {"INSERT INTO decisions VALUES (1, 'c1', 'blessed', '', 0, 0)", "decisions.kind of decision 1"},
         }) {
        writeText(path, whole);
        sql(statement);
        const auto snapshot = open(RunFile::Access::read)->snapshot();
        ASSERT_FALSE(snapshot) << statement;
        EXPECT_THAT(describe(snapshot.error()), HasSubstr(column));
    }
}

TEST_F(RunFileTest, RefusesASchemaThatPutsAViewInPlaceOfATable)
{
    create();
    sql("DROP TABLE log; CREATE VIEW log AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
        "SELECT id, 0 AS time_ms, '' AS level, '' AS text FROM n");
    EXPECT_THAT(openFailure(RunFile::Access::read).what, HasSubstr("log"));
}

TEST_F(RunFileTest, DoesNotRunTriggersOfAForeignFile)
{
    fill(*create(), 1);
    sql("CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM candidates; END");
    {
        auto file = open(RunFile::Access::write);
        ASSERT_TRUE(file->addLog({1, "info", "x"}));
    }
    EXPECT_EQ(open(RunFile::Access::read)->snapshot()->candidates.size(), 1u);
}

TEST_F(RunFileTest, UndoesTheLastDecisionThatIsInForce)
{
    auto file = create();
    fill(*file, 2);
    ASSERT_TRUE(file->addDecision({1, "c0", DecisionKind::promoted, "a", 1, false, {}, {}}));
    ASSERT_TRUE(file->addRemeasurement({1, PromotionStanding::stands, "It is faster.", someEvaluation(), 1}));
    ASSERT_TRUE(file->addDecision({2, "c0", DecisionKind::rejected, "b", 2, false, {}, {}}));
    ASSERT_TRUE(file->undoLastDecision());
    EXPECT_EQ(file->snapshot()->candidates[0].decision, DecisionKind::promoted);
    ASSERT_TRUE(file->undoLastDecision());
    EXPECT_FALSE(file->snapshot()->candidates[0].decision);
    const auto none = file->undoLastDecision();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().what, "There is no decision to undo");
}

TEST_F(RunFileTest, StoresNothingOfAStepThatFails)
{
    auto file = create();
    fill(*file, 1);
    // The number is taken: the source that goes in first must not stay behind.
    EXPECT_FALSE(file->addCandidate(someCandidate(0), "// another", {}));
    EXPECT_EQ(file->snapshot()->candidates.size(), 1u);
    EXPECT_TRUE(file->addCandidate(someCandidate(1), "// text 1", {}));
}

TEST_F(RunFileTest, SaysThatACandidateIsNotThere)
{
    auto file = create();
    const auto source = file->source("c9");
    ASSERT_FALSE(source);
    EXPECT_THAT(source.error().what, HasSubstr("c9"));
    EXPECT_FALSE(file->evaluation("c9"));
    EXPECT_FALSE(file->baselineSource("host.cu"));
}

TEST_F(RunFileTest, StaysWholeWhenTheDiskIsFull)
{
    fill(*create(), 1);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const auto size = static_cast<rlim_t>(std::filesystem::file_size(path));
        const rlimit limit{size + 40'000, size + 40'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        auto file = RunFile::open(path, RunFile::Access::write);
        if (!file)
            ::_exit(1);
        for (int number = 1; number < 1'000; ++number) {
            const auto added = (*file)->addCandidate(someCandidate(number), std::string(20'000, 'a' + number % 26), {});
            if (!added)
                ::_exit(added.error().remedy.find("everything saved before is whole") == std::string::npos ? 2 : 42);
        }
        ::_exit(3);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
    auto file = open(RunFile::Access::write);
    const auto snapshot = file->snapshot();
    ASSERT_TRUE(snapshot) << describe(snapshot.error());
    EXPECT_GE(snapshot->candidates.size(), 1u);
    EXPECT_EQ(file->source("c0").value(), "// text 0");
}

TEST_F(RunFileTest, CannotBeWrittenInAReadOnlyFolder)
{
    if (::geteuid() == 0)
        GTEST_SKIP() << "the superuser may write everywhere";
    fill(*create(), 1);
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_THAT(openFailure(RunFile::Access::write).remedy, HasSubstr("read-only"));
    EXPECT_TRUE(open(RunFile::Access::read)->snapshot());
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST(TimelineBlob, RefusesSizesThatDisagree)
{
    const auto blob = compressTimeline(someTimeline());
    ASSERT_TRUE(blob);
    EXPECT_TRUE(decompressTimeline(blob->zstd, blob->json_bytes));
    EXPECT_FALSE(decompressTimeline(blob->zstd, blob->json_bytes + 1));
    EXPECT_FALSE(decompressTimeline(blob->zstd, -1));
    EXPECT_FALSE(decompressTimeline(blob->zstd, std::int64_t{1} << 40));
    EXPECT_FALSE(decompressTimeline(blob->zstd.substr(0, blob->zstd.size() / 2), blob->json_bytes));
    EXPECT_FALSE(decompressTimeline("no zstd at all", 14));
    EXPECT_FALSE(decompressTimeline("", 0));
}

}  // namespace
}  // namespace cuco
