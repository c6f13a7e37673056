// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/candidate_table.h"
#include "ui/population/fitness_chart.h"
#include "ui/population/lineage_view.h"
#include "ui/population/population_view.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QLineEdit>
#include <QPainter>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class PopulationTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void aClickInTheLineageSelectsEverywhere();
    void ctrlClickComparesInEveryPart();
    void arrowKeysWalkTheLineage();
    void shiftWithAnArrowMovesTheSecond();
    void theWheelWithCtrlZoomsAtTheCursor();
    void draggingPansWithoutSelecting();
    void aClickOnAPointOfTheChartSelects();
    void theBestSoFarNeverGetsWorse();
    void lChangesTheScale();
    void theTableFiltersByWordAndChip();
    void anEmptyFilterResultSaysWhatToDo();
    void aCandidateThatArrivesIsShownInAllParts();
    void tenThousandCandidatesArePaintedAndFound();
    void anEmptyRunShowsASentence();

private:
    QPoint nodeOf(const QString& id) const;

    PrivateFolder folder_;
    QString path_;
    std::unique_ptr<RunModel> run_;
    std::unique_ptr<RunSession> session_;
    std::unique_ptr<PopulationView> view_;
};

void PopulationTest::initTestCase()
{
    applyTheme(*qApp, ColorScheme::light);
    path_ = folder_.file(QStringLiteral("run.cuco"));
    writeRunFile(path_);
}

void PopulationTest::init()
{
    auto run = RunModel::open(path_);
    QVERIFY(run.has_value());
    run_ = std::move(*run);
    session_ = std::make_unique<RunSession>();
    session_->setRun(run_.get());
    view_ = std::make_unique<PopulationView>(session_.get());
    view_->resize(1000, 700);
    view_->show();
    QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
}

void PopulationTest::cleanup()
{
    view_.reset();
    session_.reset();
    run_.reset();
}

QPoint PopulationTest::nodeOf(const QString& id) const
{
    const int index = static_cast<int>(session_->candidate(id) - session_->snapshot().candidates.data());
    return view_->lineage()->positionOf(index).toPoint();
}

void PopulationTest::aClickInTheLineageSelectsEverywhere()
{
    QTest::mouseClick(view_->lineage()->viewport(), Qt::LeftButton, {}, nodeOf(QStringLiteral("c12")));
    QCOMPARE(session_->primary(), QStringLiteral("c12"));
    QCOMPARE(view_->table()->view()->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("c12"));
}

void PopulationTest::ctrlClickComparesInEveryPart()
{
    session_->select(QStringLiteral("c8"));
    QTest::mouseClick(view_->lineage()->viewport(), Qt::LeftButton, Qt::ControlModifier, nodeOf(QStringLiteral("c12")));
    QCOMPARE(session_->primary(), QStringLiteral("c8"));
    QCOMPARE(session_->secondary(), QStringLiteral("c12"));
    QTableView* table = view_->table()->view();
    table->scrollToTop();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::ControlModifier,
                      table->visualRect(table->model()->index(2, 0)).center());
    QCOMPARE(session_->secondary(), QStringLiteral("c2"));
    QTest::mouseClick(view_->chart()->viewport(), Qt::LeftButton, Qt::ControlModifier,
                      view_->chart()->positionOf(QStringLiteral("c20")).toPoint());
    QCOMPARE(session_->secondary(), QStringLiteral("c20"));
    QCOMPARE(session_->primary(), QStringLiteral("c8"));
}

void PopulationTest::arrowKeysWalkTheLineage()
{
    session_->select(QStringLiteral("c8"));
    const std::string parent = session_->candidate(QStringLiteral("c8"))->parents.front();
    QTest::keyClick(view_->lineage(), Qt::Key_Left);
    QCOMPARE(session_->primary(), QString::fromStdString(parent));
    QTest::keyClick(view_->lineage(), Qt::Key_Right);
    const auto& parents = session_->candidate(session_->primary())->parents;
    QVERIFY(std::find(parents.begin(), parents.end(), parent) != parents.end());
    const QString from = session_->primary();
    QTest::keyClick(view_->lineage(), Qt::Key_Down);
    QVERIFY(session_->primary() != from);
    QTest::keyClick(view_->lineage(), Qt::Key_Up);
    QCOMPARE(session_->primary(), from);
}

void PopulationTest::shiftWithAnArrowMovesTheSecond()
{
    session_->select(QStringLiteral("c8"));
    QTest::keyClick(view_->lineage(), Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(session_->primary(), QStringLiteral("c8"));
    QCOMPARE(session_->secondary(), QString::fromStdString(session_->candidate(QStringLiteral("c8"))->parents.front()));
    QTest::keyClick(view_->table()->view(), Qt::Key_Down, Qt::ShiftModifier);
    QCOMPARE(session_->primary(), QStringLiteral("c8"));
    QCOMPARE(session_->secondary(), QStringLiteral("c5"));
}

void PopulationTest::theWheelWithCtrlZoomsAtTheCursor()
{
    LineageView* lineage = view_->lineage();
    const double before = lineage->zoom();
    const QPointF at = nodeOf(QStringLiteral("c12"));
    for (int i = 0; i < 4; ++i) {
        QWheelEvent wheel(at, lineage->viewport()->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::ControlModifier,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(lineage->viewport(), &wheel);
    }
    QVERIFY(lineage->zoom() > 2 * before);
    QVERIFY2(std::abs(nodeOf(QStringLiteral("c12")).x() - at.x()) < 8, "what is under the cursor stays there");
    QTest::keyClick(lineage, Qt::Key_F);
    QCOMPARE(lineage->zoom(), before);
}

void PopulationTest::draggingPansWithoutSelecting()
{
    LineageView* lineage = view_->lineage();
    for (int i = 0; i < 6; ++i) {
        QTest::keyClick(lineage, Qt::Key_Plus);
    }
    const QPoint before = nodeOf(QStringLiteral("c12"));
    QTest::mousePress(lineage->viewport(), Qt::LeftButton, {}, QPoint(200, 100));
    QTest::mouseMove(lineage->viewport(), QPoint(180, 90));
    QTest::mouseMove(lineage->viewport(), QPoint(150, 80));
    QTest::mouseRelease(lineage->viewport(), Qt::LeftButton, {}, QPoint(150, 80));
    QCOMPARE(nodeOf(QStringLiteral("c12")).x(), before.x() - 50);
    QVERIFY(session_->primary().isEmpty());
}

void PopulationTest::aClickOnAPointOfTheChartSelects()
{
    FitnessChart* chart = view_->chart();
    QTest::mouseClick(chart->viewport(), Qt::LeftButton, {}, chart->positionOf(QStringLiteral("c20")).toPoint());
    QCOMPARE(session_->primary(), QStringLiteral("c20"));
    QTest::keyClick(chart, Qt::Key_Right);
    QCOMPARE(session_->primary(), QStringLiteral("c21"));
    QTest::keyClick(chart, Qt::Key_Right);
    QCOMPARE(session_->primary(), QStringLiteral("c22"));
    QTest::keyClick(chart, Qt::Key_Right);
    QTest::keyClick(chart, Qt::Key_Right);
    QVERIFY2(session_->primary() != QStringLiteral("c24"), "c24 failed and has no time");
}

void PopulationTest::theBestSoFarNeverGetsWorse()
{
    const QList<QPointF> best = view_->chart()->bestSoFar();
    QVERIFY(best.size() > 4);
    for (qsizetype i = 1; i < best.size(); ++i) {
        QVERIFY(best[i].x() >= best[i - 1].x());
        QVERIFY(best[i].y() <= best[i - 1].y());
    }
    double least = 1e9;
    for (const Candidate& candidate : session_->snapshot().candidates) {
        least = std::min(least, candidate.evaluation->timeUs().value_or(least));
    }
    QCOMPARE(best.last().y(), least);
    QCOMPARE(best.last().x(), 33.0);
}

void PopulationTest::lChangesTheScale()
{
    FitnessChart* chart = view_->chart();
    const QPointF linear = chart->positionOf(QStringLiteral("c12"));
    QTest::keyClick(chart, Qt::Key_L);
    QVERIFY(chart->isLogarithmic());
    QTRY_VERIFY(chart->positionOf(QStringLiteral("c12")).y() != linear.y());
    QTest::keyClick(chart, Qt::Key_L);
    QTRY_COMPARE(chart->positionOf(QStringLiteral("c12")), linear);
}

void PopulationTest::theTableFiltersByWordAndChip()
{
    auto* words = view_->table()->findChild<QLineEdit*>(QStringLiteral("candidateFilter"));
    const QAbstractItemModel* model = view_->table()->view()->model();
    view_->table()->focusFilter();
    QTest::keyClicks(words, QStringLiteral("wrong"));
    QVERIFY(model->rowCount() > 0 && model->rowCount() < 34);
    words->clear();
    QCOMPARE(model->rowCount(), 34);
    for (auto* chip : view_->table()->findChildren<QToolButton*>()) {
        if (chip->toolTip() == QStringLiteral("Failed")) {
            chip->click();
        }
    }
    QCOMPARE(model->rowCount(), 6);
}

void PopulationTest::anEmptyFilterResultSaysWhatToDo()
{
    view_->table()->findChild<QLineEdit*>(QStringLiteral("candidateFilter"))->setText(QStringLiteral("no such thing"));
    QVERIFY(!view_->table()->view()->isVisible());
}

void PopulationTest::aCandidateThatArrivesIsShownInAllParts()
{
    Candidate candidate = exampleCandidate(34, {});
    run_->apply(CandidateChanged{candidate});
    QCOMPARE(view_->table()->view()->model()->rowCount(), 35);
    QTRY_COMPARE(view_->lineage()->lineage().nodes.size(), std::size_t{35});
    candidate.state = CandidateState::settled;
    candidate.evaluation = timedEvaluation(380, 705, true);
    run_->apply(CandidateChanged{candidate});
    QTRY_COMPARE(view_->chart()->bestSoFar().last(), QPointF(34, 380));
    QVERIFY(!view_->chart()->positionOf(QStringLiteral("c34")).isNull());
}

void PopulationTest::tenThousandCandidatesArePaintedAndFound()
{
    RunShape shape;
    shape.islands = 4;
    RunSnapshot snapshot;
    snapshot.config.islands = 4;
    for (int number = 0; number < 10'000; ++number) {
        Candidate candidate = exampleCandidate(number, shape);
        candidate.state = CandidateState::settled;
        candidate.evaluation = exampleEvaluation(number, shape);
        snapshot.candidates.push_back(candidate);
    }
    RunModel large(std::move(snapshot));
    session_->setRun(&large);
    session_->select(QStringLiteral("c9001"));
    QImage image(view_->lineage()->viewport()->size(), QImage::Format_RGB32);
    view_->lineage()->viewport()->render(&image);
    QVERIFY2(view_->lineage()->viewport()->rect().contains(nodeOf(QStringLiteral("c9001"))),
             "a selected one is in sight");
    QTest::mouseClick(view_->lineage()->viewport(), Qt::LeftButton, {}, nodeOf(QStringLiteral("c9001")));
    QCOMPARE(session_->primary(), QStringLiteral("c9001"));
    session_->setRun(nullptr);
}

void PopulationTest::anEmptyRunShowsASentence()
{
    RunModel empty{RunSnapshot{}};
    session_->setRun(&empty);
    const QImage blank = view_->lineage()->grab().toImage();
    QVERIFY(!view_->table()->view()->isVisible());
    bool has_text = false;
    for (int x = 0; x < blank.width() && !has_text; ++x) {
        for (int y = 0; y < blank.height() && !has_text; ++y) {
            has_text = qGray(blank.pixel(x, y)) < 200;
        }
    }
    QVERIFY(has_text);
    session_->setRun(nullptr);
}

QTEST_MAIN(PopulationTest)
#include "population_test.moc"
