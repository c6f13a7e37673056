// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/import_shinka.h"
#include "core/run/run_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cuco {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The table as ShinkaEvolve's shinka/database/dbase.py makes it.
constexpr const char* shinka_schema = R"sql(
CREATE TABLE programs (
    id TEXT PRIMARY KEY, code TEXT NOT NULL, language TEXT NOT NULL, parent_id TEXT,
    archive_inspiration_ids TEXT, top_k_inspiration_ids TEXT, generation INTEGER NOT NULL, timestamp REAL NOT NULL,
    code_diff TEXT, combined_score REAL, public_metrics TEXT, private_metrics TEXT, text_feedback TEXT,
    complexity REAL, embedding TEXT, embedding_pca_2d TEXT, embedding_pca_3d TEXT, embedding_cluster_id INTEGER,
    correct BOOLEAN DEFAULT 0, children_count INTEGER NOT NULL DEFAULT 0, metadata TEXT, migration_history TEXT,
    island_idx INTEGER, system_prompt_id TEXT);
CREATE TABLE archive (program_id TEXT PRIMARY KEY, FOREIGN KEY (program_id) REFERENCES programs(id) ON DELETE CASCADE);
CREATE TABLE metadata_store (key TEXT PRIMARY KEY, value TEXT);
)sql";

class ShinkaImport : public ::testing::Test {
protected:
    void sql(const std::string& statements)
    {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open((folder_ / "evolution_db.sqlite").c_str(), &database), SQLITE_OK);
        char* message = nullptr;
        EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &message), SQLITE_OK)
            << (message ? message : "") << "\n"
            << statements;
        sqlite3_free(message);
        sqlite3_close(database);
    }
    static std::string quoted(std::string text)
    {
        for (std::size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 2))
            text.insert(at, 1, '\'');
        return "'" + text + "'";
    }
    struct Row {
        std::string id{}, parent{};
        int generation = 0;
        bool correct = true;
        double time_ms = 0;  ///< 0: the metrics say none
        nlohmann::json metadata = nlohmann::json::object();
        std::string error{};
        int island = 0;
        std::string inspirations = "[]";
    };
    void add(const Row& row)
    {
        nlohmann::json metrics = nlohmann::json::object();
        if (row.time_ms > 0)
            metrics = {{"time_ms", row.time_ms}, {"all_run_times_ms", {row.time_ms, row.time_ms + 0.5}}};
        const nlohmann::json hidden =
            row.error.empty() ? nlohmann::json::object() : nlohmann::json{{"error", row.error}};
        sql("INSERT INTO programs (id, code, language, parent_id, archive_inspiration_ids, top_k_inspiration_ids, "
            "generation, timestamp, code_diff, combined_score, public_metrics, private_metrics, text_feedback, "
            "complexity, "
            "embedding, correct, children_count, metadata, migration_history, island_idx) VALUES (" +
            quoted(row.id) + ", " + quoted("// code of " + row.id) + ", 'cuda', " +
            (row.parent.empty() ? "NULL" : quoted(row.parent)) + ", " + quoted(row.inspirations) + ", '[]', " +
            std::to_string(row.generation) + ", " + std::to_string(1'760'000'000.5 + row.generation) +
            ", '- old', 12.5, " + quoted(metrics.dump()) + ", " + quoted(hidden.dump()) +
            ", 'Hide the exchange.', 1.0, '[0.1]', " + (row.correct ? "1" : "0") + ", 0, " +
            quoted(row.metadata.dump()) + ", '[]', " + std::to_string(row.island) + ")");
    }
    Result<ImportReport> import() { return importShinka(folder_ / "evolution_db.sqlite", run_); }
    RunSnapshot snapshot()
    {
        auto file = RunFile::open(run_, RunFile::Access::read);
        EXPECT_TRUE(file) << describe(file.error());
        auto snapshot = (*file)->snapshot();
        EXPECT_TRUE(snapshot) << describe(snapshot.error());
        return *snapshot;
    }
    std::string refusal()
    {
        const auto report = import();
        EXPECT_FALSE(report);
        EXPECT_FALSE(std::filesystem::exists(run_)) << "half a run would pass for a whole one";
        return report ? "" : describe(report.error());
    }

    testing::TemporaryFolder folder_;
    const std::filesystem::path run_ = folder_ / "run.cuco";
};

TEST_F(ShinkaImport, ProgramsBecomeCandidatesWithTheirLineageVerdictsAndCosts)
{
    sql(shinka_schema);
    add({.id = "seed-uuid", .time_ms = 10, .metadata = {{"patch_type", "init"}, {"api_costs", 0.0}}});
    add({.id = "child-uuid",
         .parent = "seed-uuid",
         .generation = 1,
         .time_ms = 5,
         .metadata = {{"patch_type", "diff"}, {"patch_name", "overlap"}, {"api_costs", 0.25}, {"embed_cost", 0.05}},
         .island = 1,
         .inspirations = R"(["seed-uuid", "gone"])"});
    add({.id = "bad-uuid", .parent = "child-uuid", .generation = 2, .correct = false, .error = "Timeout (300s)"});
    const auto report = import();
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->programs, 3);
    EXPECT_EQ(report->correct, 2);
    EXPECT_EQ(report->timed, 2);
    EXPECT_THAT(report->remarks, IsEmpty());

    const RunSnapshot run = snapshot();
    EXPECT_TRUE(isImported(run.config));
    EXPECT_TRUE(selfReported(run));
    EXPECT_EQ(toJson(run).at("imported"), true);
    EXPECT_EQ(run.config.workload, "evolution_db");
    EXPECT_EQ(run.state, RunState::finished);
    EXPECT_EQ(run.config.islands, 2);
    ASSERT_THAT(run.candidates, SizeIs(3));
    const Candidate &seed = run.candidates[0], &child = run.candidates[1], &bad = run.candidates[2];
    EXPECT_THAT(seed.parents, IsEmpty());
    EXPECT_THAT(child.parents, ElementsAre("c0"));
    EXPECT_EQ(child.summary, "overlap");
    EXPECT_EQ(child.strategy, "diff");
    EXPECT_EQ(child.island, 1);
    EXPECT_NEAR(child.cost_usd, 0.3, 1e-12);
    EXPECT_NEAR(*child.evaluation->speedup(), 2, 1e-12) << "against the seed";
    EXPECT_NEAR(*child.evaluation->timeUs(), 5000, 1e-9);
    EXPECT_THAT(child.evaluation->timings.at(0).samples_us, ElementsAre(5000, 5500));
    EXPECT_EQ(bad.evaluation->verdict, Verdict::timeout);
    for (const Candidate& candidate : run.candidates) {
        EXPECT_TRUE(candidate.evaluation->self_reported);
        EXPECT_THAT(candidate.evaluation->remarks, Contains(HasSubstr("nothing was measured")));
        EXPECT_THAT(candidate.evaluation->remarks, Contains(HasSubstr("combined_score 12.5 (imported)")));
    }
    auto file = RunFile::open(run_, RunFile::Access::read);
    EXPECT_EQ((*file)->source("c1").value(), "// code of child-uuid");
    EXPECT_EQ((*file)->baselineSource("imported seed").value(), "// code of seed-uuid");
    EXPECT_THAT((*file)->steps()->at(1).body, HasSubstr("Inspirations: c0\n"));
}

TEST_F(ShinkaImport, TheCallOfAModelIsKeptWhereTheDatabaseHasIt)
{
    sql(shinka_schema);
    add({.id = "a",
         .metadata = {{"patch_type", "full"},
                      {"model_name", "some-model"},
                      {"llm_result",
                       {{"content", "<NAME>x</NAME>"},
                        {"msg", "Make it fast."},
                        {"system_msg", "You write CUDA."},
                        {"model_name", "some-model-2026"},
                        {"input_tokens", 1200},
                        {"output_tokens", 34},
                        {"cost", 0.0125}}}}});
    add({.id = "b", .generation = 1, .metadata = {{"llm_result", nullptr}, {"model_name", "other"}}});
    const auto report = import();
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->calls, 1);
    auto file = RunFile::open(run_, RunFile::Access::read);
    const auto call = (*file)->llmCall(1);
    ASSERT_TRUE(call) << describe(call.error());
    EXPECT_EQ(call->request.model, "some-model-2026");
    EXPECT_EQ(call->request.system, "You write CUDA.");
    EXPECT_EQ(call->request.messages.at(0).text, "Make it fast.");
    EXPECT_EQ(call->result->text, "<NAME>x</NAME>");
    EXPECT_EQ(call->result->usage.input, 1200);
    EXPECT_EQ(call->cost_usd, 0.0125);
    EXPECT_EQ(call->cost_source, "imported");
    EXPECT_EQ(call->candidate_id, "c0");
    EXPECT_THAT((*file)->steps()->at(1).body, HasSubstr("other"));
}

TEST_F(ShinkaImport, LineageThatRunsInCirclesOrNowhereIsCutAndSaidSo)
{
    sql(shinka_schema);
    add({.id = "late-parent", .generation = 5});
    add({.id = "early-child", .parent = "late-parent", .generation = 1});
    add({.id = "x", .parent = "z", .generation = 2});
    add({.id = "y", .parent = "x", .generation = 3});
    add({.id = "z", .parent = "y", .generation = 4});
    add({.id = "tail", .parent = "z", .generation = 6});
    add({.id = "narcissus", .parent = "narcissus", .generation = 7});
    add({.id = "orphan", .parent = "nobody", .generation = 8});
    const auto report = import();
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_THAT(report->remarks, Contains(HasSubstr("2 circles")));
    EXPECT_THAT(report->remarks, Contains(HasSubstr("1 programs name a parent that is not in the database")));
    const RunSnapshot run = snapshot();
    ASSERT_THAT(run.candidates, SizeIs(8));
    for (const Candidate& candidate : run.candidates)
        for (const std::string& parent : candidate.parents)
            EXPECT_LT(std::stoi(parent.substr(1)), candidate.number) << "parents come first";
    EXPECT_EQ(std::ranges::count_if(run.candidates, [](const auto& candidate) { return candidate.parents.empty(); }),
              4);
    EXPECT_THAT(run.log, Contains(::testing::Field(&LogEntry::text, HasSubstr("circles"))));
}

TEST_F(ShinkaImport, AnOldDatabaseLacksColumns)
{
    sql("CREATE TABLE programs (id TEXT, code TEXT, generation INTEGER); "
        "INSERT INTO programs VALUES ('a', '// a', 0), ('b', '// b', 1)");
    const auto report = import();
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->programs, 2);
    EXPECT_EQ(report->correct, 0);
    EXPECT_THAT(report->remarks, Contains(HasSubstr("time_ms")));
    EXPECT_EQ(snapshot().candidates[1].evaluation->verdict, Verdict::wrong_result);
}

TEST_F(ShinkaImport, FieldsOfTheWrongTypeAreLeftOutAndCounted)
{
    sql("CREATE TABLE programs (id, code, parent_id, generation, timestamp, combined_score, public_metrics, metadata, "
        "correct, island_idx, archive_inspiration_ids, text_feedback); "
        "INSERT INTO programs VALUES "
        "('a', '// a', 7, 'first', 'yesterday', 'high', '{broken', '[1, 2]', 1, -5, '{\"a\": 1}', x'00ff'), "
        "('a', '// twin', NULL, 1e300, -1e300, 9e999, '{\"time_ms\": -3}', '{\"api_costs\": \"much\", \"patch_name\": "
        "5}', "
        "'yes', 1e12, '[1, null]', NULL), "
        "(NULL, x'6261', NULL, 2, 3, 4, '{\"time_ms\": 1e999}', 'NaN', 1, 0, NULL, NULL)");
    const auto report = import();
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->programs, 3);
    EXPECT_EQ(report->timed, 0);
    EXPECT_THAT(report->remarks, Contains(HasSubstr("2 programs have fields of a wrong type")));
    EXPECT_THAT(report->remarks, Contains(HasSubstr("1 programs have the id of another")));
    EXPECT_THAT(snapshot().candidates, SizeIs(3));
}

TEST_F(ShinkaImport, TextOfTheDatabaseCannotLeaveItsFence)
{
    sql(shinka_schema);
    add({.id = "```\n# not a heading",
         .metadata = {{"patch_name", "one\n# two"}, {"patch_description", "````\n# no"}}});
    ASSERT_TRUE(import());
    auto file = RunFile::open(run_, RunFile::Access::read);
    const AgentStep step = (*file)->steps()->at(0);
    EXPECT_EQ(step.title, "one");
    EXPECT_THAT(step.body, HasSubstr("`````"));
}

TEST_F(ShinkaImport, AForeignFileIsRefusedWithASentence)
{
    EXPECT_THAT(refusal(), HasSubstr("There is no such file"));
    testing::writeText(folder_ / "evolution_db.sqlite", "no database at all, but long enough to be looked at");
    EXPECT_THAT(refusal(), HasSubstr("no SQLite database"));
    std::filesystem::remove(folder_ / "evolution_db.sqlite");
    sql("CREATE TABLE songs (id TEXT, code TEXT)");
    EXPECT_THAT(refusal(), HasSubstr("no table `programs`"));
    sql("CREATE VIEW programs AS SELECT id, code FROM songs");
    EXPECT_THAT(refusal(), HasSubstr("no table `programs`"));
    std::filesystem::remove(folder_ / "evolution_db.sqlite");
    sql(shinka_schema);
    EXPECT_THAT(refusal(), HasSubstr("no programs"));
}

TEST_F(ShinkaImport, ADamagedDatabaseIsRefused)
{
    sql(shinka_schema);
    for (int i = 0; i < 40; ++i)
        add({.id = "p" + std::to_string(i), .metadata = {{"patch_description", std::string(3000, 'x')}}});
    std::string bytes = testing::readText(folder_ / "evolution_db.sqlite");
    std::fill(bytes.begin() + 4096, bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), '\x5a');
    testing::writeText(folder_ / "evolution_db.sqlite", bytes);
    EXPECT_THAT(refusal(), ::testing::AnyOf(HasSubstr("cannot be read"), HasSubstr("no table")));
}

TEST_F(ShinkaImport, ARunFileThatExistsIsNotOverwritten)
{
    sql(shinka_schema);
    add({.id = "a"});
    testing::writeText(run_, "mine");
    EXPECT_FALSE(import());
    EXPECT_EQ(testing::readText(run_), "mine");
}

TEST_F(ShinkaImport, ItStopsWhenAsked)
{
    sql(shinka_schema);
    add({.id = "a"});
    std::stop_source stop;
    stop.request_stop();
    const auto report = importShinka(folder_ / "evolution_db.sqlite", run_, {}, stop.get_token());
    EXPECT_FALSE(report);
    EXPECT_FALSE(std::filesystem::exists(run_));
}

}  // namespace
}  // namespace cuco
