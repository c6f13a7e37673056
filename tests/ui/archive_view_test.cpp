// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/archive_view.h"

#include "ui_test_support.h"
#include "view_fixture.h"

#include <QLabel>
#include <QTableView>
#include <QTest>

namespace cuco::ui {

/// A run by value: `count` verified candidates with the directive, the last the fastest.
RunSnapshot snapshotWith(const std::vector<std::pair<Directive, double>>& candidates)
{
    RunSnapshot snapshot;
    snapshot.modelled = true;
    for (const auto& [directive, speedup] : candidates) {
        Candidate candidate;
        candidate.number = static_cast<int>(snapshot.candidates.size());
        candidate.id = "c" + std::to_string(candidate.number);
        candidate.directive = directive;
        candidate.state = CandidateState::settled;
        ShapeTiming timing;
        timing.shape = "small";
        timing.time_us = 100 / speedup;
        timing.baseline_us = 100;
        timing.speedup = timing.ci_low = timing.ci_high = speedup;
        candidate.evaluation.emplace();
        candidate.evaluation->stage = Stage::profile;
        candidate.evaluation->modelled = true;
        candidate.evaluation->timings = {timing};
        snapshot.candidates.push_back(std::move(candidate));
    }
    return snapshot;
}

const Directive sequential{"lsa", "sequential", "world", "cta", 0};
const Directive engines{"lsa", "stream_overlap", "world", "copy_engine", 1 << 20};

class ArchiveViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void showsTheFastestOfEachKindOfDirective();
    void saysWhatIsThereWhenNothingIs();
    void aClickOrAnArrowKeySelectsTheCandidate();
    void followsTheSelectionOfOtherViews();
    void aRejectionTakesACandidateOffTheMap();

private:
    static QString textOf(const ArchiveView& view, const QString& id)
    {
        const auto* model = view.map()->model();
        for (int row = 0; row < model->rowCount(); ++row) {
            for (int column = 0; column < model->columnCount(); ++column) {
                const QModelIndex index = model->index(row, column);
                if (index.data(ArchiveModel::id_role).toString() == id) {
                    return index.data().toString();
                }
            }
        }
        return {};
    }
};

void ArchiveViewTest::showsTheFastestOfEachKindOfDirective()
{
    RunModel run(snapshotWith({{sequential, 0.8}, {sequential, 1.1}, {engines, 1.4}}));
    RunSession session;
    session.setRun(&run);
    const ArchiveView view(&session);
    QCOMPARE(textOf(view, QStringLiteral("c1")), QStringLiteral("1.10×\nc1"));
    QCOMPARE(textOf(view, QStringLiteral("c2")), QStringLiteral("1.40×\nc2"));
    QCOMPARE(textOf(view, QStringLiteral("c0")), QString());
    const QString coverage = view.findChild<QLabel*>(QStringLiteral("archiveCoverage"))->text();
    QVERIFY2(coverage.contains(QStringLiteral("in 2 of ")), qPrintable(coverage));
    QVERIFY2(coverage.contains(QStringLiteral("modelled")), qPrintable(coverage));
}

void ArchiveViewTest::saysWhatIsThereWhenNothingIs()
{
    RunSession session;
    const ArchiveView view(&session);
    QVERIFY(view.findChild<QLabel*>(QStringLiteral("archiveCoverage"))
                ->text()
                .contains(QStringLiteral("No candidate has verified yet")));
    QVERIFY(view.map()->model()->rowCount() > 0);
}

void ArchiveViewTest::aClickOrAnArrowKeySelectsTheCandidate()
{
    RunModel run(snapshotWith({{sequential, 0.8}, {engines, 1.4}}));
    RunSession session;
    session.setRun(&run);
    ArchiveView view(&session);
    view.resize(1200, 800);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    session.select(QStringLiteral("c0"));
    const QModelIndex there = view.map()->currentIndex();
    QVERIFY(there.isValid());
    session.select(QString());
    QTest::mouseClick(view.map()->viewport(), Qt::LeftButton, {}, view.map()->visualRect(there).center());
    QCOMPARE(session.primary(), QStringLiteral("c0"));
}

void ArchiveViewTest::followsTheSelectionOfOtherViews()
{
    RunModel run(snapshotWith({{sequential, 0.8}, {engines, 1.4}}));
    RunSession session;
    session.setRun(&run);
    const ArchiveView view(&session);
    session.select(QStringLiteral("c1"));
    QCOMPARE(view.map()->currentIndex().data(ArchiveModel::id_role).toString(), QStringLiteral("c1"));
    session.select(QStringLiteral("c0"));
    QCOMPARE(view.map()->currentIndex().data(ArchiveModel::id_role).toString(), QStringLiteral("c0"));
}

void ArchiveViewTest::aRejectionTakesACandidateOffTheMap()
{
    auto snapshot = snapshotWith({{sequential, 0.8}, {sequential, 1.1}});
    RunModel run(snapshot);
    RunSession session;
    session.setRun(&run);
    const ArchiveView view(&session);
    Candidate rejected = snapshot.candidates[1];
    rejected.decision = DecisionKind::rejected;
    run.apply(CandidateChanged{rejected});
    QTRY_COMPARE(textOf(view, QStringLiteral("c0")), QStringLiteral("0.80×\nc0"));
    QCOMPARE(textOf(view, QStringLiteral("c1")), QString());
}

}  // namespace cuco::ui

QTEST_MAIN(cuco::ui::ArchiveViewTest)
#include "archive_view_test.moc"
