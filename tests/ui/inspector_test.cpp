// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/inspector.h"
#include "ui/shell/candidate_facts.h"
#include "ui/shell/main_actions.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class InspectorTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void saysWhatToDoWhileNothingIsSelected();
    void showsVerdictFiguresAndLineage();
    void callsModelledFiguresModelled();
    void leadsFromAFailureToItsLine();
    void aLinkToAParentSelectsIt();
    void showsTwoBesideEachOther();
    void aRejectionNeedsAReason();
    void aPromotionMayGoWithoutOne();
    void anotherSelectionTakesTheQuestionBack();
    void textOfARunIsNeverMarkup();
    void aPromotionIsPendingUntilItStandsOrIsRefused();

private:
    QLabel* labelWith(const QString& text) const;

    PrivateFolder folder_;
    QString path_;
    std::unique_ptr<RunModel> run_;
    std::unique_ptr<RunSession> session_;
    std::unique_ptr<QMainWindow> window_;
    std::unique_ptr<MainActions> actions_;
    Inspector* inspector_ = nullptr;
};

void InspectorTest::initTestCase()
{
    applyTheme(*qApp, ColorScheme::light);
    path_ = folder_.file(QStringLiteral("run.cuco"));
    writeRunFile(path_);
}

void InspectorTest::init()
{
    run_ = std::move(*RunModel::open(path_));
    session_ = std::make_unique<RunSession>();
    session_->setRun(run_.get());
    window_ = std::make_unique<QMainWindow>();
    actions_ = std::make_unique<MainActions>(window_.get());
    inspector_ =
        new Inspector(session_.get(), {actions_->promote, actions_->reject, actions_->undo, actions_->compare_parent,
                                       actions_->compare_best, actions_->compare_baseline, actions_->end_comparison,
                                       actions_->open_source, actions_->edit_copy});
    window_->setCentralWidget(inspector_);
    window_->resize(300, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void InspectorTest::cleanup()
{
    window_.reset();
    actions_.reset();
    session_.reset();
    run_.reset();
}

QLabel* InspectorTest::labelWith(const QString& text) const
{
    for (auto* label : inspector_->findChildren<QLabel*>()) {
        if (label->isVisible() && label->text().contains(text)) {
            return label;
        }
    }
    return nullptr;
}

void InspectorTest::saysWhatToDoWhileNothingIsSelected()
{
    QVERIFY(labelWith(QStringLiteral("Select a candidate")));
    session_->select(QStringLiteral("c12"));
    QVERIFY(!labelWith(QStringLiteral("Select a candidate")));
}

void InspectorTest::showsVerdictFiguresAndLineage()
{
    session_->select(QStringLiteral("c12"));
    QVERIFY(labelWith(QStringLiteral("c12")));
    QVERIFY(labelWith(QStringLiteral("✓ verified")));
    QVERIFY(labelWith(QStringLiteral("copy engine")));
    QVERIFY(labelWith(QStringLiteral("copy_\u200Bstreams")));
    const double ceiling = 361 / *session_->evaluation(QStringLiteral("c12"))->timeUs();
    QVERIFY(labelWith(QStringLiteral("%1 %").arg(std::lround(100 * ceiling))));
    QVERIFY(labelWith(QStringLiteral("candidate:c8")));
}

void InspectorTest::callsModelledFiguresModelled()
{
    session_->select(QStringLiteral("c12"));
    QVERIFY(labelWith(QStringLiteral("Figures, modelled")));
}

void InspectorTest::leadsFromAFailureToItsLine()
{
    session_->select(QStringLiteral("c4"));
    QVERIFY(labelWith(QStringLiteral("✕ wrong result")));
    QVERIFY(labelWith(QStringLiteral("Rank 2 differs first")));
    QSignalSpy requested(session_.get(), &RunSession::sourceRequested);
    QLabel* line = labelWith(QStringLiteral("line:8"));
    QVERIFY(line);
    Q_EMIT line->linkActivated(QStringLiteral("line:8"));
    QTRY_COMPARE(requested.size(), 1);
    QCOMPARE(requested[0][0].toString(), QStringLiteral("c4"));
    QCOMPARE(requested[0][1].toInt(), 8);
}

void InspectorTest::aLinkToAParentSelectsIt()
{
    session_->select(QStringLiteral("c12"));
    Q_EMIT labelWith(QStringLiteral("candidate:c8"))->linkActivated(QStringLiteral("candidate:c8"));
    QTRY_COMPARE(session_->primary(), QStringLiteral("c8"));
}

void InspectorTest::showsTwoBesideEachOther()
{
    session_->select(QStringLiteral("c12"));
    session_->compareWith(QStringLiteral("baseline:host.cu"));
    QVERIFY(labelWith(QStringLiteral("host.cu")));
    QVERIFY(labelWith(QStringLiteral("705 µs")));
    QVERIFY(labelWith(QStringLiteral("host-driven baseline")));
}

void InspectorTest::aRejectionNeedsAReason()
{
    session_->select(QStringLiteral("c12"));
    QSignalSpy decided(inspector_, &Inspector::decided);
    inspector_->askReason(DecisionKind::rejected);
    auto* reason = inspector_->findChild<QLineEdit*>(QStringLiteral("reason"));
    auto* decide = inspector_->findChild<QPushButton*>(QStringLiteral("decide"));
    QVERIFY(reason->isVisible());
    QVERIFY(!decide->isEnabled());
    QTest::keyClick(reason, Qt::Key_Return);
    QCOMPARE(decided.size(), 0);
    QTest::keyClicks(reason, QStringLiteral("waits for all peers"));
    QTest::keyClick(reason, Qt::Key_Return);
    QCOMPARE(decided.size(), 1);
    QCOMPARE(decided[0][0].toString(), QStringLiteral("c12"));
    QVERIFY(decided[0][1].value<DecisionKind>() == DecisionKind::rejected);
    QCOMPARE(decided[0][2].toString(), QStringLiteral("waits for all peers"));
    QVERIFY(!reason->isVisible());
}

void InspectorTest::aPromotionMayGoWithoutOne()
{
    session_->select(QStringLiteral("c12"));
    QSignalSpy decided(inspector_, &Inspector::decided);
    inspector_->askReason(DecisionKind::promoted);
    QTest::keyClick(inspector_->findChild<QLineEdit*>(QStringLiteral("reason")), Qt::Key_Return);
    QCOMPARE(decided.size(), 1);
}

void InspectorTest::anotherSelectionTakesTheQuestionBack()
{
    session_->select(QStringLiteral("c12"));
    inspector_->askReason(DecisionKind::promoted);
    session_->select(QStringLiteral("c13"));
    QVERIFY(!inspector_->findChild<QLineEdit*>(QStringLiteral("reason"))->isVisible());
}

void InspectorTest::textOfARunIsNeverMarkup()
{
    RunSnapshot snapshot;
    Candidate candidate = exampleCandidate(0, {});
    candidate.summary = "<a href=\"line:1\">click</a><img src=x>";
    candidate.strategy = "<b>bold</b>";
    candidate.tunables = {{"<i>name</i>", 1}};
    snapshot.candidates.push_back(candidate);
    RunModel run(snapshot);
    RunSession session;
    session.setRun(&run);
    for (const Fact& fact : factsOf(session, QStringLiteral("c0"))) {
        for (const QString& text : {fact.label, fact.value}) {
            for (const char* tag : {"<img", "<b>", "<i>", "<a href=\"line"}) {
                QVERIFY2(!text.contains(QLatin1String(tag)), qPrintable(text));
            }
        }
    }
}

void InspectorTest::aPromotionIsPendingUntilItStandsOrIsRefused()
{
    session_->select(QStringLiteral("c12"));
    Decision decision;
    decision.id = 1;
    decision.candidate_id = "c12";
    decision.reason = "<b>fast</b>";
    const auto shown = [&] {
        run_->apply(DecisionsChanged{{decision}});
        run_->apply(CandidateChanged{*session_->candidate(QStringLiteral("c12"))});
        QString text;
        for (const QLabel* label : inspector_->findChildren<QLabel*>()) {
            text += label->text() + QLatin1Char('\n');
        }
        return text;
    };
    QVERIFY(shown().contains(QStringLiteral("promotion pending")));
    QVERIFY(shown().contains(QStringLiteral("not yet")));
    decision.standing = PromotionStanding::refused;
    decision.finding = "At the held-back shape wide it is not faster.";
    QVERIFY(shown().contains(QStringLiteral("promotion refused")));
    QVERIFY(shown().contains(QStringLiteral("held-back shape wide")));
    decision.standing = PromotionStanding::stands;
    QVERIFY(shown().contains(QStringLiteral("· promoted")));
    QVERIFY(!shown().contains(QStringLiteral("<b>fast")));
    decision.undone = true;
    QVERIFY(!shown().contains(QStringLiteral("promoted")));
}

QTEST_MAIN(InspectorTest)
#include "inspector_test.moc"
