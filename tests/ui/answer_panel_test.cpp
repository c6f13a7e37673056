// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/answer_panel.h"
#include "ui/engine/prompt_desk.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_list_model.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QClipboard>
#include <QDockWidget>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>

#include <future>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

/// Prompts are asked on threads of their own, as the engine does; people answer in the window.
class AnswerPanelTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void itIsThereOnlyWhileAPromptWaits();
    void thePromptIsCopiedWhole();
    void anEmptyAnswerIsNotSubmitted();
    void controlEnterSubmits();
    void stopWaitingGivesThePromptUp();
    void promptsAreAnsweredOneAfterTheOther();
    void whatWasTypedStaysWithItsRun();
    void theRunListSaysThatARunWaits();
    void aRunThatIsClosedStopsAsking();

private:
    /// Ends its waiting with its scope.
    struct Asked {
        ~Asked() { stop.request_stop(); }
        ManualExchange::Outcome get() { return answer.get(); }
        std::stop_source stop;
        std::future<ManualExchange::Outcome> answer;
    };
    static std::unique_ptr<Asked> ask(RunModel* run, const std::string& prompt)
    {
        auto asked = std::make_unique<Asked>();
        asked->answer = std::async(
            std::launch::async, [exchange = run->prompts().exchange(), prompt, stop = asked->stop.get_token()] {
                return exchange->ask(prompt, stop, std::chrono::steady_clock::now() + std::chrono::minutes(2));
            });
        return asked;
    }
    RunModel* addRun(const QString& name)
    {
        RunSnapshot snapshot;
        snapshot.config.workload = name.toStdString();
        return window_->runs().add(std::make_unique<RunModel>(snapshot, folder_.file(name + QStringLiteral(".cuco"))));
    }
    template <class Widget>
    Widget* child(const char* name) const
    {
        return window_->findChild<Widget*>(QString::fromLatin1(name));
    }
    QPlainTextEdit* answer() const { return child<QPlainTextEdit>("answer"); }
    bool isShown() const { return child<QDockWidget>("answerDock")->isVisible(); }
    void click(const char* name) const { QTest::mouseClick(child<QPushButton>(name), Qt::LeftButton); }

    PrivateFolder folder_;
    std::unique_ptr<MainWindow> window_;
    RunModel* run_ = nullptr;
};

void AnswerPanelTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    applyTheme(*qApp, ColorScheme::light);
}

void AnswerPanelTest::init()
{
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    run_ = addRun(QStringLiteral("first"));
    window_->showRun(run_);
}

void AnswerPanelTest::cleanup()
{
    window_.reset();
}

void AnswerPanelTest::itIsThereOnlyWhileAPromptWaits()
{
    QVERIFY(!isShown());
    const auto asked = ask(run_, "# system\n\nYou write CUDA.\n\n# user\n\nWhat now?");
    QTRY_VERIFY(isShown());
    QVERIFY(child<QPlainTextEdit>("prompt")->toPlainText().endsWith(QStringLiteral("What now?")));
    QVERIFY(child<QPlainTextEdit>("prompt")->isReadOnly());
    QTest::keyClicks(answer(), QStringLiteral("this"));
    click("submitAnswer");
    QTRY_VERIFY(!isShown());
    const auto outcome = asked->get();
    QVERIFY(outcome.end == ManualExchange::End::answered);
    QCOMPARE(outcome.text, std::string("this"));
}

void AnswerPanelTest::thePromptIsCopiedWhole()
{
    const auto asked = ask(run_, "first line\n  second line");
    QTRY_VERIFY(isShown());
    click("copyPrompt");
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("first line\n  second line"));
}

void AnswerPanelTest::anEmptyAnswerIsNotSubmitted()
{
    const auto asked = ask(run_, "What now?");
    QTRY_VERIFY(isShown());
    QVERIFY(!child<QPushButton>("submitAnswer")->isEnabled());
    QTest::keyClicks(answer(), QStringLiteral("  "));
    QVERIFY(!child<QPushButton>("submitAnswer")->isEnabled());
    QTest::keyClick(answer(), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(isShown());
}

void AnswerPanelTest::controlEnterSubmits()
{
    const auto asked = ask(run_, "What now?");
    QTRY_VERIFY(isShown());
    QGuiApplication::clipboard()->setText(QStringLiteral("a pasted\nanswer"));
    answer()->setFocus();
    QTest::keyClick(answer(), Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(answer()->toPlainText(), QStringLiteral("a pasted\nanswer"));
    QTest::keyClick(answer(), Qt::Key_Return, Qt::ControlModifier);
    QTRY_VERIFY(!isShown());
    QCOMPARE(asked->get().text, std::string("a pasted\nanswer"));
}

void AnswerPanelTest::stopWaitingGivesThePromptUp()
{
    const auto asked = ask(run_, "What now?");
    QTRY_VERIFY(isShown());
    click("stopWaiting");
    QTRY_VERIFY(!isShown());
    QVERIFY(asked->get().end == ManualExchange::End::given_up);
}

void AnswerPanelTest::promptsAreAnsweredOneAfterTheOther()
{
    const auto first = ask(run_, "The first?");
    QTRY_COMPARE(run_->prompts().waiting().size(), std::size_t(1));
    const auto second = ask(run_, "The second?");
    auto* heading = child<QLabel>("answerHeading");
    QTRY_VERIFY(heading->text().contains(QStringLiteral("1 more")));
    QTest::keyClicks(answer(), QStringLiteral("one"));
    click("submitAnswer");
    QTRY_COMPARE(child<QPlainTextEdit>("prompt")->toPlainText(), QStringLiteral("The second?"));
    QVERIFY(answer()->toPlainText().isEmpty());
    QVERIFY(!heading->text().contains(QStringLiteral("more")));
    QTest::keyClicks(answer(), QStringLiteral("two"));
    click("submitAnswer");
    QCOMPARE(first->get().text, std::string("one"));
    QCOMPARE(second->get().text, std::string("two"));
}

void AnswerPanelTest::whatWasTypedStaysWithItsRun()
{
    RunModel* other = addRun(QStringLiteral("second"));
    const auto asked = ask(run_, "What now?");
    QTRY_VERIFY(isShown());
    QTest::keyClicks(answer(), QStringLiteral("half an ans"));
    window_->showRun(other);
    QVERIFY(!isShown());
    window_->showRun(run_);
    QVERIFY(isShown());
    QCOMPARE(answer()->toPlainText(), QStringLiteral("half an ans"));
}

void AnswerPanelTest::theRunListSaysThatARunWaits()
{
    QVERIFY(!RunListModel::stateText(*run_).contains(QStringLiteral("waits")));
    RunModel* other = addRun(QStringLiteral("second"));
    window_->showRun(other);
    const auto asked = ask(run_, "What now?");
    QTRY_COMPARE(RunListModel::stateText(*run_), QStringLiteral("waits for your answer"));
    QVERIFY(!isShown());
}

void AnswerPanelTest::aRunThatIsClosedStopsAsking()
{
    const auto asked = ask(run_, "What now?");
    QTRY_VERIFY(isShown());
    asked->stop.request_stop();
    QVERIFY(asked->get().end == ManualExchange::End::stopped);
    window_->showRun(nullptr);
    window_->runs().close(run_);
    QVERIFY(!isShown());
}

QTEST_MAIN(AnswerPanelTest)
#include "answer_panel_test.moc"
