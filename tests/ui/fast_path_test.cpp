// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fast_path_run.h"
#include "ui/fast_path/fast_path_outline.h"
#include "ui/fast_path/fast_path_view.h"
#include "ui/population/population_view.h"
#include "ui/shell/main_window.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/style/theme.h"
#include "ui/views/diff_view.h"

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class FastPathTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void stagesHoldTheirAttemptsInOrder();
    void theJudgesWordStandsBesideTheVerdict();
    void aSelectedAttemptIsComparedWithTheOneBefore();
    void anAttemptAppearsWhileItIsMade();
    void withoutAModelTheWorkloadsSeedIsTheOnlyAttempt();
    void aRunOfAnotherKindKeepsThePopulation();
    void nothingIsLeftToContinueFromTheLastAttempt();
    void continuingRejectsTheLaterAttemptsAndResumes();
    void oneUndoTakesBackOneActOfContinuing();
    void attemptsThatWereRejectedLeaveRoomForOthers();
    void aProviderThatComesWithAFileIsUsedOnlyWithConsent();
    void aPersonAnswersAConversionInTheWindow();
    void aConversionThatIsBegunHereIsFollowedToItsEnd();

private:
    template <class Widget>
    Widget* child(const char* name) const
    {
        return window_->findChild<Widget*>(QString::fromLatin1(name));
    }
    QTreeWidget* tree() const { return child<QTreeWidget>("attempts"); }
    /// The texts of the rows of a stage, column by column.
    QStringList column(int stage, int column) const;
    QString openExample(const QString& name);
    bool rejected(const char* id) const
    {
        return window_->session()->candidate(QString::fromLatin1(id))->decision == DecisionKind::rejected;
    }

    PrivateFolder folder_;
    std::unique_ptr<MainWindow> window_;
};

void FastPathTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    applyTheme(*qApp, ColorScheme::light);
}

void FastPathTest::init()
{
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void FastPathTest::cleanup()
{
    window_.reset();
}

QStringList FastPathTest::column(int stage, int column) const
{
    QStringList texts;
    const QTreeWidgetItem* item = tree()->topLevelItem(stage);
    for (int row = 0; item && row < item->childCount(); ++row) {
        texts << item->child(row)->text(column);
    }
    return texts;
}

QString FastPathTest::openExample(const QString& name)
{
    const QString path = folder_.file(name + QStringLiteral(".cuco"));
    writeFastPathRun(path, fastPathConfig(folder_.file(QStringLiteral("answers"))));
    return window_->openFile(path) ? path : QString();
}

void FastPathTest::stagesHoldTheirAttemptsInOrder()
{
    QVERIFY(!openExample(QStringLiteral("stages")).isEmpty());
    QVERIFY(tree()->isVisible());
    QCOMPARE(tree()->topLevelItemCount(), 3);
    QCOMPARE(column(0, 0), QStringList{QStringLiteral("c0")});
    QCOMPARE(column(1, 0), (QStringList{QStringLiteral("c1"), QStringLiteral("c2"), QStringLiteral("c3")}));
    QCOMPARE(column(2, 0), QStringList{QStringLiteral("c4")});
    QCOMPARE(tree()->topLevelItem(1)->text(1), QStringLiteral("3 of 10 attempts"));
    QCOMPARE(tree()->topLevelItem(1)->text(2), QStringLiteral("done: c3"));
    QCOMPARE(child<QTabWidget>("tabs")->tabText(0), QStringLiteral("Fast path"));
    QVERIFY(tree()->headerItem()->text(3).startsWith(QStringLiteral("Modelled")));
    QCOMPARE(column(1, 3), (QStringList{QString(), QStringLiteral("580"), QStringLiteral("560")}));
}

void FastPathTest::theJudgesWordStandsBesideTheVerdict()
{
    QVERIFY(!openExample(QStringLiteral("judged")).isEmpty());
    QCOMPARE(column(1, 1), (QStringList{QStringLiteral("✕ compile error"), QStringLiteral("✓ verified"),
                                        QStringLiteral("✓ verified")}));
    QCOMPARE(column(1, 2),
             (QStringList{QStringLiteral("sends back"), QStringLiteral("sends back"), QStringLiteral("accepts")}));
    QCOMPARE(column(2, 2), QStringList{QString()});
    window_->session()->select(QStringLiteral("c2"));
    const QString said = child<QPlainTextEdit>("attemptDetail")->toPlainText();
    QVERIFY2(said.contains(QStringLiteral("The last gather is still the host's.")), qPrintable(said));
    QVERIFY2(said.contains(QStringLiteral("Replace it as the others.")), qPrintable(said));
}

void FastPathTest::aSelectedAttemptIsComparedWithTheOneBefore()
{
    QVERIFY(!openExample(QStringLiteral("difference")).isEmpty());
    const QRect row = tree()->visualItemRect(tree()->topLevelItem(1)->child(1));
    QTest::mouseClick(tree()->viewport(), Qt::LeftButton, {}, row.center());
    QCOMPARE(window_->session()->primary(), QStringLiteral("c2"));
    QTest::mouseClick(child<QPushButton>("showDifference"), Qt::LeftButton);
    QCOMPARE(child<QTabWidget>("tabs")->currentIndex(), static_cast<int>(Tab::diff));
    const QString heading = window_->findChild<DiffView*>()->headingText();
    QVERIFY2(heading.startsWith(QStringLiteral("c1 (parent) ↔ c2")), qPrintable(heading));
    // Keys move the shared selection as well.
    window_->showTab(Tab::population);
    QTest::keyClick(tree(), Qt::Key_Down);
    QCOMPARE(window_->session()->primary(), QStringLiteral("c3"));
}

void FastPathTest::anAttemptAppearsWhileItIsMade()
{
    RunSnapshot snapshot;
    snapshot.config = fastPathConfig(folder_.file(QStringLiteral("answers")));
    snapshot.state = RunState::running;
    RunModel* run = window_->runs().add(std::make_unique<RunModel>(snapshot));
    window_->showRun(run);
    QCOMPARE(tree()->topLevelItemCount(), 3);
    LlmCallStarted started;
    started.running = 1;
    started.origin = {"fast path", 1, "c0"};
    run->apply(started);
    QTRY_COMPARE(tree()->topLevelItemCount(), 4);
    QVERIFY(tree()->topLevelItem(3)->text(1).contains(QStringLiteral("waits for an answer")));
    LlmCallEnded ended;
    ended.running = 1;
    run->apply(ended);
    Candidate candidate;
    candidate.id = "c0";
    candidate.strategy = toString(FastPathStage::infrastructure);
    run->apply(CandidateChanged{candidate});
    QTRY_COMPARE(tree()->topLevelItemCount(), 3);
    QCOMPARE(column(0, 1), QStringList{QStringLiteral("○ proposed")});
    candidate.state = CandidateState::settled;
    candidate.evaluation = timedEvaluation(500, 705, true);
    run->apply(CandidateChanged{candidate});
    QTRY_COMPARE(column(0, 1), QStringList{QStringLiteral("✓ verified")});
}

void FastPathTest::withoutAModelTheWorkloadsSeedIsTheOnlyAttempt()
{
    RunSnapshot snapshot;
    snapshot.config = fastPathConfig({});
    Candidate seed;
    seed.id = "c0";
    seed.strategy = "own seed";
    snapshot.candidates = {seed};
    window_->showRun(window_->runs().add(std::make_unique<RunModel>(snapshot)));
    QCOMPARE(tree()->topLevelItemCount(), 1);
    QCOMPARE(tree()->topLevelItem(0)->text(0), QStringLiteral("c0"));
    QVERIFY(child<QLabel>("fastPathHeading")->text().contains(QStringLiteral("No model is asked")));
}

void FastPathTest::aRunOfAnotherKindKeepsThePopulation()
{
    QVERIFY(!openExample(QStringLiteral("kind")).isEmpty());
    const QString other = folder_.file(QStringLiteral("search.cuco"));
    writeRunFile(other);
    QVERIFY(window_->openFile(other));
    QVERIFY(!tree()->isVisible());
    QVERIFY(window_->findChild<PopulationView*>()->isVisible());
    QCOMPARE(child<QTabWidget>("tabs")->tabText(0), QStringLiteral("Population"));
}

void FastPathTest::nothingIsLeftToContinueFromTheLastAttempt()
{
    QVERIFY(!openExample(QStringLiteral("last")).isEmpty());
    auto* button = child<QPushButton>("continueFrom");
    window_->session()->select(QStringLiteral("c4"));
    QVERIFY(!button->isEnabled());
    QVERIFY(!button->toolTip().isEmpty());
    window_->session()->select(QStringLiteral("c1"));
    QVERIFY(button->isEnabled());
}

void FastPathTest::continuingRejectsTheLaterAttemptsAndResumes()
{
    const QString path = openExample(QStringLiteral("continue"));
    QVERIFY(!path.isEmpty());
    window_->session()->select(QStringLiteral("c2"));
    QTest::mouseClick(child<QPushButton>("continueFrom"), Qt::LeftButton);
    const auto state = [this] { return window_->session()->snapshot().state; };
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::running, 30'000);
    QVERIFY(!child<QPushButton>("continueFrom")->isEnabled());
    QVERIFY(!rejected("c2"));
    QVERIFY(rejected("c3") && rejected("c4"));
    QCOMPARE(window_->session()->candidate(QStringLiteral("c3"))->decision_reason,
             std::string("continued from c2, without the 2 after it"));
    QTRY_COMPARE(tree()->topLevelItem(1)->text(1), QStringLiteral("2 of 10 attempts"));
    window_->actions().stop->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::stopped, 60'000);
    QCOMPARE(window_->actions().undo->text(), QStringLiteral("&Undo continuing from c2"));
    window_->actions().undo->trigger();
    QTRY_VERIFY(!rejected("c4") && !rejected("c3"));
    QVERIFY(!window_->actions().undo->isEnabled());
    QTRY_COMPARE(tree()->topLevelItem(1)->text(1), QStringLiteral("3 of 10 attempts"));
}

void FastPathTest::oneUndoTakesBackOneActOfContinuing()
{
    const auto decision = [](int id, const char* candidate, std::string reason) {
        return Decision{id, candidate, DecisionKind::rejected, std::move(reason), 0, false, {}, {}};
    };
    std::vector<Decision> decisions{decision(1, "c2", continuingReason("c1", 2)),
                                    decision(2, "c3", continuingReason("c1", 2)), decision(3, "c4", "slow"),
                                    decision(4, "c5", continuingReason("c1", 1)),
                                    decision(5, "c6", continuingReason("c1", 1))};
    const auto undo = [&decisions] {
        QStringList taken;
        for (const Decision& last : lastActOf(decisions).decisions) {
            taken << QString::fromStdString(last.candidate_id);
            decisions[static_cast<std::size_t>(last.id - 1)].undone = true;
        }
        return taken.join(QLatin1Char(' '));
    };
    QCOMPARE(QString::fromStdString(lastActOf(decisions).continued_from), QStringLiteral("c1"));
    QCOMPARE(undo(), QStringLiteral("c6"));
    QCOMPARE(undo(), QStringLiteral("c5"));
    QVERIFY(lastActOf(decisions).continued_from.empty());
    QCOMPARE(undo(), QStringLiteral("c4"));
    QCOMPARE(undo(), QStringLiteral("c3 c2"));
    QCOMPARE(undo(), QString());
}

void FastPathTest::attemptsThatWereRejectedLeaveRoomForOthers()
{
    const QString path = folder_.file(QStringLiteral("room.cuco")), answers = folder_.file(QStringLiteral("room"));
    QVERIFY(QDir().mkpath(answers));
    RunConfig config = fastPathConfig(answers);
    config.fast_path.infrastructure_attempts = config.fast_path.annotation_attempts = 1;
    config.fast_path.replacement_attempts = 2;
    config.generations = config.fast_path.attempts() - 1;
    const auto [first, failed] = std::pair{exampleAttempts()[0], exampleAttempts()[1]};
    writeFastPathRun(path, config, {first, failed, failed, failed});
    QVERIFY(window_->openFile(path));
    window_->session()->select(QStringLiteral("c1"));
    QTest::mouseClick(child<QPushButton>("continueFrom"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(answers + QStringLiteral("/0001.prompt.md")), 60'000);
    QVERIFY(window_->session()->snapshot().state == RunState::running);
    QTRY_COMPARE(tree()->topLevelItemCount(), 4);
    window_->actions().stop->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(window_->session()->snapshot().state == RunState::stopped, 60'000);
}

void FastPathTest::aProviderThatComesWithAFileIsUsedOnlyWithConsent()
{
    const QString path = folder_.file(QStringLiteral("foreign.cuco"));
    RunConfig config = fastPathConfig({});
    config.provider.provider = "command";
    config.provider.command = {"/opt/somebody/answers", "--quickly"};
    // What comes next is a call of the judge.
    writeFastPathRun(path, config, {{FastPathStage::infrastructure, true, {}}});
    QVERIFY(window_->openFile(path));
    RunModel* run = window_->session()->run();
    QVERIFY(run->consentQuestion());

    const auto said = [run] { return QString::fromStdString(run->snapshot().message); };
    QString asked;
    const auto answer = [&asked](Qt::Key key) {
        QTimer::singleShot(0, [&asked, key] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            if (!box) {
                return;
            }
            asked = box->text();
            if (key == Qt::Key_Y) {
                box->button(QMessageBox::Yes)->click();
            } else {
                QTest::keyClick(box, key);
            }
        });
    };
    // Enter takes the default, which is No.
    answer(Qt::Key_Return);
    window_->actions().start->trigger();
    QVERIFY2(asked.contains(QStringLiteral("/opt/somebody/answers --quickly")), qPrintable(asked));
    QVERIFY2(run->consentQuestion(), "nothing was agreed to");
    QTRY_VERIFY_WITH_TIMEOUT(run->snapshot().state == RunState::paused, 120'000);
    QVERIFY2(said().contains(QStringLiteral("This program would be run")), qPrintable(said()));

    asked.clear();
    answer(Qt::Key_Y);
    window_->actions().start->trigger();
    QVERIFY(!asked.isEmpty());
    QVERIFY(!run->consentQuestion());
    QTRY_VERIFY_WITH_TIMEOUT(run->snapshot().state == RunState::running, 30'000);
    // There is no such program.
    QTRY_VERIFY_WITH_TIMEOUT(run->snapshot().state == RunState::paused, 120'000);
    QVERIFY2(!said().contains(QStringLiteral("would be run")), qPrintable(said()));

    // What was begun here needs no question.
    asked.clear();
    answer(Qt::Key_Return);
    window_->actions().start->trigger();
    QVERIFY(asked.isEmpty());
    window_->actions().stop->trigger();
}

void FastPathTest::aPersonAnswersAConversionInTheWindow()
{
    QSettings().setValue(QStringLiteral("newRun/folder"), folder_.file({}));
    window_->actions().new_run->trigger();
    auto* dialog = child<NewRunDialog>("newRun");
    QTRY_VERIFY_WITH_TIMEOUT(window_->nodes().find(QStringLiteral("emulated")), 20'000);
    for (const auto& [name, data] : {std::pair{"proposer", "fastpath"}, {"node", "emulated"}, {"provider", "manual"}}) {
        auto* box = dialog->findChild<QComboBox*>(QString::fromLatin1(name));
        box->setCurrentIndex(box->findData(QString::fromLatin1(data)));
    }
    dialog->findChild<QLineEdit*>(QStringLiteral("answers"))->clear();
    QTest::keyClick(dialog, Qt::Key_Return);
    auto* dock = child<QDockWidget>("answerDock");
    QTRY_VERIFY_WITH_TIMEOUT(dock->isVisible(), 120'000);
    const auto state = [this] { return window_->session()->snapshot().state; };
    QVERIFY(state() == RunState::running);
    const QString prompt = child<QPlainTextEdit>("prompt")->toPlainText();
    QVERIFY(prompt.startsWith(QStringLiteral("# system")));
    QTest::mouseClick(child<QPushButton>("stopWaiting"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::paused, 60'000);
    QVERIFY(!dock->isVisible());
    QVERIFY(
        QString::fromStdString(window_->session()->snapshot().message).contains(QStringLiteral("Continue the run")));

    window_->actions().start->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(dock->isVisible(), 60'000);
    QCOMPARE(child<QPlainTextEdit>("prompt")->toPlainText(), prompt);
    QFile answer(QStringLiteral(CUCO_TEST_ROOT "/tests/recorded_answers/gemm_allgather_lsa/0001.answer.md"));
    QVERIFY(answer.open(QIODevice::ReadOnly));
    child<QPlainTextEdit>("answer")->setPlainText(QString::fromUtf8(answer.readAll()));
    QTest::mouseClick(child<QPushButton>("submitAnswer"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!window_->session()->snapshot().candidates.empty(), 60'000);
    // It is asked about the next attempt.
    QTRY_VERIFY_WITH_TIMEOUT(dock->isVisible() && child<QPlainTextEdit>("prompt")->toPlainText() != prompt, 120'000);
    window_->actions().stop->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::stopped, 60'000);
    QTRY_VERIFY(!dock->isVisible());
}

void FastPathTest::aConversionThatIsBegunHereIsFollowedToItsEnd()
{
    QSettings().setValue(QStringLiteral("newRun/folder"), folder_.file({}));
    window_->actions().new_run->trigger();
    auto* dialog = child<NewRunDialog>("newRun");
    QVERIFY(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(window_->nodes().find(QStringLiteral("emulated")), 20'000);
    const auto choose = [dialog](const char* name, const QVariant& data) {
        auto* box = dialog->findChild<QComboBox*>(QString::fromLatin1(name));
        box->setCurrentIndex(box->findData(data));
    };
    choose("proposer", QStringLiteral("fastpath"));
    choose("node", QStringLiteral("emulated"));
    choose("provider", QStringLiteral("manual"));
    const QString answers = folder_.file(QStringLiteral("recorded"));
    std::filesystem::copy(CUCO_TEST_ROOT "/tests/recorded_answers/gemm_allgather_lsa", answers.toStdString());
    dialog->findChild<QLineEdit*>(QStringLiteral("answers"))->setText(answers);
    QTest::keyClick(dialog, Qt::Key_Return);
    QCOMPARE(child<QTabWidget>("tabs")->tabText(0), QStringLiteral("Fast path"));
    QVERIFY2(!window_->session()->run()->consentQuestion(), "who begins a run has chosen its provider");
    const auto state = [this] { return window_->session()->snapshot().state; };
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::finished || state() == RunState::failed, 280'000);
    QVERIFY2(state() == RunState::finished, window_->session()->snapshot().message.c_str());
    QTRY_COMPARE(column(1, 1), (QStringList{QStringLiteral("✕ compile error"), QStringLiteral("✓ verified")}));
    QTRY_COMPARE(tree()->topLevelItem(2)->text(2), QStringLiteral("done: c3"));
    QCOMPARE(column(0, 2), QStringList{QStringLiteral("accepts")});
    QCOMPARE(column(1, 2), (QStringList{QStringLiteral("sends back"), QStringLiteral("accepts")}));
}

QTEST_MAIN(FastPathTest)
#include "fast_path_test.moc"
