// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_session.h"
#include "ui/population/candidate_filter.h"
#include "ui/population/candidate_table_model.h"
#include "ui/population/lineage_layout.h"
#include "ui/shell/candidate_facts.h"
#include "ui/shell/fuzzy_match.h"
#include "ui/shell/log_model.h"
#include "ui/shell/open_runs.h"
#include "ui/shell/run_list_model.h"
#include "ui/shell/status_text.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

namespace {

constexpr auto fatal = QAbstractItemModelTester::FailureReportingMode::QtTest;

Candidate settled(int number, double time_us)
{
    Candidate candidate = exampleCandidate(number, {});
    candidate.state = CandidateState::settled;
    candidate.evaluation = timedEvaluation(time_us, 705, true);
    return candidate;
}

RunSnapshot runningSnapshot()
{
    RunSnapshot snapshot;
    snapshot.config.workload = "gemm_allgather";
    snapshot.state = RunState::running;
    return snapshot;
}

QString cell(const QAbstractItemModel& model, int row, int column)
{
    return model.index(row, column).data().toString();
}

}  // namespace

class RunModelsTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aRunOpensFromItsFile();
    void aRunThatAnotherProgramWritesIsFollowed();
    void aMissingFileIsAnErrorThatNamesIt();
    void aFileThatIsNoRunIsAnError();
    void anEventChangesTheSnapshotAndTellsOfIt();
    void aRunThatCannotBeMadeSaysWhyAndIsFailed();
    void selectingIsSharedAndEndsAComparison();
    void anUnknownIdClearsTheSelection();
    void aBaselineIsSelectedLikeACandidate();
    void whatAProgramSaysOfItselfIsCalledSelfReported();
    void theTableFollowsARun();
    void modelledFiguresAreLabelledModelled();
    void sortingIsByNumberNotByText();
    void theFilterNeedsEveryWord();
    void theLogFiltersByLevel();
    void theRunListShowsRunsFilesAndNodes();
    void theLineageHasALaneForEachIsland();
    void figuresHaveTheDigitsOfTheirInterval();
    void thePaletteFindsWordsByTheirBeginnings();
    void theStatusSaysWhatGoesOn();
    void textIsReadableInLightAndDark();

private:
    PrivateFolder folder_;
};

void RunModelsTest::aRunOpensFromItsFile()
{
    const QString path = folder_.file(QStringLiteral("a.cuco"));
    writeRunFile(path);
    auto run = RunModel::open(path);
    QVERIFY(run.has_value());
    QCOMPARE((*run)->snapshot().candidates.size(), std::size_t{34});
    QVERIFY((*run)->source(QStringLiteral("c3"))->find("// c3") != std::string::npos);
    QCOMPARE(QString::fromStdString(*(*run)->source(QStringLiteral("baseline:host.cu"))),
             QStringLiteral("int host();\n"));
    QVERIFY((*run)->timeline(QStringLiteral("c3"))->has_value());
    QVERIFY((*run)->timeline(QStringLiteral("baseline:host.cu"))->has_value());
    QCOMPARE((*run)->steps()->size(), std::size_t{34});
    QVERIFY(!(*run)->isActive());
}

void RunModelsTest::aRunThatAnotherProgramWritesIsFollowed()
{
    const QString path = folder_.file(QStringLiteral("followed.cuco"));
    RunConfig config;
    config.workload = "gemm_allgather";
    auto file = RunFile::create(path.toStdString(), config);
    QVERIFY(file.has_value());
    require((*file)->setState(RunState::running, {}));
    auto run = RunModel::open(path);
    QVERIFY(run.has_value());
    QSignalSpy reset(run->get(), &RunModel::reset);
    Candidate candidate = exampleCandidate(0, {});
    QVERIFY((*file)->addCandidate(candidate, "int a;", {}).has_value());
    QTRY_COMPARE((*run)->snapshot().candidates.size(), std::size_t{1});
    candidate.state = CandidateState::settled;
    candidate.evaluation = timedEvaluation(500, 705, true);
    require((*file)->settleCandidate(candidate, std::nullopt));
    require((*file)->addLog({1, "info", "settled"}));
    require((*file)->setState(RunState::finished, {}));
    QTRY_VERIFY((*run)->snapshot().state == RunState::finished);
    QVERIFY((*run)->snapshot().candidates.front().evaluation.has_value());
    QCOMPARE((*run)->snapshot().log.size(), std::size_t{1});
    QCOMPARE(reset.size(), 0);
}

void RunModelsTest::aMissingFileIsAnErrorThatNamesIt()
{
    const auto run = RunModel::open(folder_.file(QStringLiteral("nowhere.cuco")));
    QVERIFY(!run);
    QVERIFY(QString::fromStdString(describe(run.error())).contains(QStringLiteral("nowhere.cuco")));
}

void RunModelsTest::aFileThatIsNoRunIsAnError()
{
    QFile file(folder_.file(QStringLiteral("text.cuco")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(5000, 'x'));
    file.close();
    const auto run = RunModel::open(file.fileName());
    QVERIFY(!run);
    QVERIFY(!run.error().what.empty());
}

void RunModelsTest::anEventChangesTheSnapshotAndTellsOfIt()
{
    RunModel run(runningSnapshot());
    QSignalSpy changed(&run, &RunModel::candidateChanged), logged(&run, &RunModel::logged);
    run.apply(CandidateChanged{exampleCandidate(0, {})});
    run.apply(CandidateChanged{settled(0, 500)});
    run.apply(Logged{{1, "info", "hello"}});
    QCOMPARE(changed.size(), 2);
    QCOMPARE(logged.size(), 1);
    QCOMPARE(run.snapshot().candidates.size(), std::size_t{1});
    QVERIFY(run.candidate(QStringLiteral("c0"))->evaluation.has_value());
    run.apply(StateChanged{RunState::failed, "the disk is full"});
    QVERIFY(run.snapshot().state == RunState::failed);
    QVERIFY(statusText(run).contains(QStringLiteral("the disk is full")));
}

void RunModelsTest::aRunThatCannotBeMadeSaysWhyAndIsFailed()
{
    qputenv("CUCO_DATA_DIR", folder_.file(QStringLiteral("no-data-here")).toUtf8());
    RunModel run(RunSnapshot{}, folder_.file(QStringLiteral("never.cuco")));
    QSignalSpy failed(&run, &RunModel::failed);
    RunConfig config;
    config.workload = "no such workload";
    run.createAndStart(config);
    QVERIFY(run.isActive());
    QVERIFY(!run.activity().isEmpty());
    QVERIFY(failed.wait(10'000));
    QVERIFY(!run.isActive());
    QVERIFY(run.snapshot().state == RunState::failed);
    QVERIFY(!QFile::exists(run.path()));
    qunsetenv("CUCO_DATA_DIR");
}

void RunModelsTest::selectingIsSharedAndEndsAComparison()
{
    RunModel run(runningSnapshot());
    run.apply(CandidateChanged{settled(0, 600)});
    run.apply(CandidateChanged{settled(1, 500)});
    RunSession session;
    session.setRun(&run);
    QSignalSpy changed(&session, &RunSession::selectionChanged);
    session.select(QStringLiteral("c0"));
    session.compareWith(QStringLiteral("c1"));
    QCOMPARE(session.secondary(), QStringLiteral("c1"));
    QCOMPARE(changed.size(), 2);
    session.compareWith(QStringLiteral("c0"));
    QVERIFY2(session.secondary().isEmpty(), "nothing is compared with itself");
    session.compareWith(QStringLiteral("c1"));
    session.select(QStringLiteral("c1"));
    QCOMPARE(session.primary(), QStringLiteral("c1"));
    QVERIFY(session.secondary().isEmpty());
    session.setRun(nullptr);
    QVERIFY(session.primary().isEmpty());
}

void RunModelsTest::anUnknownIdClearsTheSelection()
{
    RunModel run(runningSnapshot());
    run.apply(CandidateChanged{settled(0, 600)});
    RunSession session;
    session.setRun(&run);
    session.select(QStringLiteral("c0"));
    session.select(QStringLiteral("c99"));
    QVERIFY(session.primary().isEmpty());
}

void RunModelsTest::aBaselineIsSelectedLikeACandidate()
{
    RunModel run(runningSnapshot());
    run.apply(BaselinesMeasured{{{"host.cu", timedEvaluation(705, 705, true)}}, true});
    RunSession session;
    session.setRun(&run);
    session.select(QStringLiteral("baseline:host.cu"));
    QCOMPARE(session.primary(), QStringLiteral("baseline:host.cu"));
    QVERIFY(session.evaluation(session.primary()));
    QVERIFY(!session.candidate(session.primary()));
    QCOMPARE(session.timesNote(), QStringLiteral("modelled"));
}

void RunModelsTest::whatAProgramSaysOfItselfIsCalledSelfReported()
{
    Evaluation evaluation = timedEvaluation(705, 705, false);
    evaluation.self_reported = true;
    RunModel run(runningSnapshot());
    run.apply(BaselinesMeasured{{{"host.cu", evaluation}}, false});
    RunSession session;
    session.setRun(&run);
    CandidateTableModel model(&session);
    const auto heading = [&](int column) {
        return model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    };
    QCOMPARE(heading(CandidateTableModel::speedup_column), QStringLiteral("Self-reported ×"));
    QCOMPARE(heading(CandidateTableModel::time_column), QStringLiteral("Self-reported µs"));
    session.select(QStringLiteral("baseline:host.cu"));
    const auto facts = factsOf(session, session.primary());
    QVERIFY(std::ranges::any_of(
        facts, [](const Fact& fact) { return fact.section == QStringLiteral("Figures, self-reported"); }));
}

void RunModelsTest::theTableFollowsARun()
{
    RunModel run(runningSnapshot()), other(runningSnapshot());
    RunSession session;
    session.setRun(&run);
    CandidateTableModel model(&session);
    const QAbstractItemModelTester tester(&model, fatal);
    CandidateFilter filter;
    filter.setSourceModel(&model);
    const QAbstractItemModelTester filter_tester(&filter, fatal);
    for (int number = 0; number < 20; ++number) {
        run.apply(CandidateChanged{exampleCandidate(number, {})});
    }
    QCOMPARE(model.rowCount(), 20);
    QCOMPARE(cell(model, 3, CandidateTableModel::verdict_column), QStringLiteral("○ proposed"));
    run.apply(CandidateChanged{settled(3, 470)});
    QCOMPARE(cell(model, 3, CandidateTableModel::verdict_column), QStringLiteral("✓ verified"));
    QCOMPARE(cell(model, 3, CandidateTableModel::speedup_column), QStringLiteral("1.50"));
    QCOMPARE(cell(model, 3, CandidateTableModel::time_column), QStringLiteral("470"));
    session.setRun(&other);
    QCOMPARE(model.rowCount(), 0);
    run.apply(CandidateChanged{settled(4, 470)});
    QCOMPARE(model.rowCount(), 0);
}

void RunModelsTest::modelledFiguresAreLabelledModelled()
{
    RunModel run(runningSnapshot());
    RunSession session;
    session.setRun(&run);
    CandidateTableModel model(&session);
    const auto header = [&](int column) {
        return model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    };
    QVERIFY(!header(CandidateTableModel::time_column).contains(QStringLiteral("Modelled")));
    run.apply(BaselinesMeasured{{{"host.cu", timedEvaluation(705, 705, true)}}, true});
    QVERIFY(header(CandidateTableModel::time_column).contains(QStringLiteral("Modelled")));
    QVERIFY(header(CandidateTableModel::speedup_column).contains(QStringLiteral("Modelled")));
}

void RunModelsTest::sortingIsByNumberNotByText()
{
    RunModel run(runningSnapshot());
    for (int number = 0; number < 12; ++number) {
        run.apply(CandidateChanged{settled(number, number == 7 ? 99.5 : 400 + number)});
    }
    RunSession session;
    session.setRun(&run);
    CandidateTableModel model(&session);
    CandidateFilter filter;
    filter.setSourceModel(&model);
    filter.sort(CandidateTableModel::time_column, Qt::AscendingOrder);
    QCOMPARE(cell(filter, 0, CandidateTableModel::id_column), QStringLiteral("c7"));
    filter.sort(CandidateTableModel::id_column, Qt::DescendingOrder);
    QCOMPARE(cell(filter, 0, CandidateTableModel::id_column), QStringLiteral("c11"));
    QCOMPARE(cell(filter, 2, CandidateTableModel::id_column), QStringLiteral("c9"));
}

void RunModelsTest::theFilterNeedsEveryWord()
{
    RunModel run(runningSnapshot());
    for (int number = 0; number < 6; ++number) {
        Candidate candidate = exampleCandidate(number, {});
        candidate.state = CandidateState::settled;
        candidate.evaluation = exampleEvaluation(number, {});
        run.apply(CandidateChanged{candidate});
    }
    RunSession session;
    session.setRun(&run);
    CandidateTableModel model(&session);
    CandidateFilter filter;
    filter.setSourceModel(&model);
    filter.setWords(QStringLiteral("copy_engine_chunks PEER"));
    QCOMPARE(filter.rowCount(), 1);
    QCOMPARE(cell(filter, 0, CandidateTableModel::id_column), QStringLiteral("c3"));
    filter.setWords({});
    filter.setStanding(Standing::failed);
    QCOMPARE(filter.rowCount(), 1);
    QCOMPARE(cell(filter, 0, CandidateTableModel::id_column), QStringLiteral("c4"));
}

void RunModelsTest::theLogFiltersByLevel()
{
    RunModel run(runningSnapshot());
    RunSession session;
    session.setRun(&run);
    LogModel model(&session);
    const QAbstractItemModelTester tester(&model, fatal);
    LogFilter filter;
    filter.setSourceModel(&model);
    run.apply(Logged{{1000, "info", "started"}});
    run.apply(Logged{{2000, "warning", "slow"}});
    run.apply(Logged{{3000, "error", "broken"}});
    QCOMPARE(filter.rowCount(), 3);
    filter.setSeverity(2);
    QCOMPARE(filter.rowCount(), 1);
    QCOMPARE(cell(filter, 0, LogModel::text_column), QStringLiteral("broken"));
    filter.setSeverity(0);
    filter.setText(QStringLiteral("SLOW"));
    QCOMPARE(filter.rowCount(), 1);
}

void RunModelsTest::theRunListShowsRunsFilesAndNodes()
{
    OpenRuns runs;
    NodeProbes nodes;
    RunListModel model(runs.all(), nodes);
    const QAbstractItemModelTester tester(&model, fatal);
    connect(&runs, &OpenRuns::listChanged, &model, &RunListModel::refresh);
    connect(&runs, &OpenRuns::runChanged, &model, &RunListModel::refreshRun);
    const int before = model.rowCount();
    const QString path = folder_.file(QStringLiteral("list.cuco"));
    writeRunFile(path);
    const auto run = runs.open(path);
    QVERIFY(run.has_value());
    QCOMPARE(*runs.open(path), *run);
    QCOMPARE(model.rowCount(), before + 2);
    const int row = model.rowOf(*run);
    QCOMPARE(cell(model, row, 0), QStringLiteral("list"));
    QCOMPARE(model.index(row).data(RunListModel::detail_role).toString(), QStringLiteral("finished · 34/34"));
    QVERIFY(!(model.index(0).flags() & Qt::ItemIsSelectable));
    runs.close(*run);
    QCOMPARE(model.rowCount(), before);
}

void RunModelsTest::theLineageHasALaneForEachIsland()
{
    std::vector<Candidate> candidates;
    for (int number = 0; number < 34; ++number) {
        candidates.push_back(exampleCandidate(number, {}));
    }
    const LineageLayout layout = layOut(candidates);
    QCOMPARE(layout.lanes.size(), std::size_t{2});
    QCOMPARE(layout.columns, 9);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto& lane = layout.lanes[static_cast<std::size_t>(candidates[i].island)];
        const auto& node = layout.nodes[i];
        QVERIFY(node.row >= lane.first_row && node.row < lane.first_row + lane.rows);
        QCOMPARE(node.parents.size(), candidates[i].parents.size());
        for (std::size_t j = 0; j < i; ++j) {
            QVERIFY2(layout.nodes[j].column != node.column || layout.nodes[j].row != node.row,
                     "two candidates in one place");
        }
    }
    QCOMPARE(layout.sibling(0, 1), 1);
    QCOMPARE(layout.sibling(0, -1), 0);
}

void RunModelsTest::figuresHaveTheDigitsOfTheirInterval()
{
    QCOMPARE(figureText({467.31, 464.2, 470.4}), QStringLiteral("467"));
    QCOMPARE(halfWidthText({467.31, 464.2, 470.4}), QStringLiteral("3"));
    QCOMPARE(figureText({1.5131, 1.495, 1.525}), QStringLiteral("1.51"));
    QCOMPARE(intervalText({1.5131, 1.4949, 1.5201}), QStringLiteral("1.49–1.52"));
    QCOMPARE(halfWidthText({1.5, 1.5, 1.5}), QString());
    QCOMPARE(microseconds(4.6712), QStringLiteral("4.67"));
    QCOMPARE(microseconds(0), QStringLiteral("0"));
    QCOMPARE(directiveText({"lsa", "fused", "tile", "warp", 1 << 20}),
             QStringLiteral("lsa · fused · tile · warp · 1 MiB"));
    QCOMPARE(words("wrong_result"), QStringLiteral("wrong result"));
}

void RunModelsTest::thePaletteFindsWordsByTheirBeginnings()
{
    QVERIFY(fuzzyScore(QStringLiteral("nr"), QStringLiteral("File: New run…")).has_value());
    QVERIFY(!fuzzyScore(QStringLiteral("xyz"), QStringLiteral("File: New run…")).has_value());
    QVERIFY(!fuzzyScore(QStringLiteral("rn"), QStringLiteral("nr")).has_value());
    QVERIFY(*fuzzyScore(QStringLiteral("tim"), QStringLiteral("View: Timeline")) >
            *fuzzyScore(QStringLiteral("tim"), QStringLiteral("Select the minimum")));
    QVERIFY(*fuzzyScore(QStringLiteral("cb"), QStringLiteral("Compare with the best")) >
            *fuzzyScore(QStringLiteral("cb"), QStringLiteral("Accumbent")));
}

void RunModelsTest::theStatusSaysWhatGoesOn()
{
    QCOMPARE(timeLeftText(370), QStringLiteral("about 6 min left"));
    QCOMPARE(timeLeftText(20), QStringLiteral("less than a minute left"));
    RunSnapshot snapshot = runningSnapshot();
    snapshot.state = RunState::finished;
    snapshot.modelled = true;
    snapshot.candidates.push_back(settled(0, 470));
    const RunModel run(snapshot);
    QCOMPARE(statusText(run), QStringLiteral("finished · best c0: 1.50× modelled"));
}

void RunModelsTest::textIsReadableInLightAndDark()
{
    for (const ColorScheme scheme : {ColorScheme::light, ColorScheme::dark}) {
        applyTheme(*qApp, scheme);
        const Colors colors = colorsFor(qApp->palette());
        QCOMPARE(colors.dark, scheme == ColorScheme::dark);
        for (const QColor& background : {colors.background, colors.surface}) {
            for (const QColor& hue : {colors.compute, colors.communication, colors.wait, colors.copy, colors.reference,
                                      colors.failed, colors.selected}) {
                QVERIFY2(contrastRatio(colors.readable(hue), background) >= 4.5, qPrintable(hue.name()));
            }
            QVERIFY(contrastRatio(colors.text, background) >= 4.5);
            QVERIFY(contrastRatio(colors.secondary, background) >= 4.5);
        }
        for (const QColor& line : {colors.added_line, colors.removed_line, colors.added_word, colors.removed_word}) {
            QVERIFY2(contrastRatio(colors.text, line) >= 4.5, qPrintable(line.name()));
        }
    }
    applyTheme(*qApp, ColorScheme::light);
}

QTEST_MAIN(RunModelsTest)
#include "run_models_test.moc"
