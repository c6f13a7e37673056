// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace_view.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/trace/call_format.h"
#include "ui/views/trace/call_page.h"
#include "ui/views/trace/chat_text.h"
#include "ui/views/trace/prompt_diff.h"
#include "ui/views/trace/step_text.h"
#include "ui/views/trace/trace_filter.h"
#include "ui/views/trace/trace_model.h"
#include "view_fixture.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTemporaryFile>
#include <QTextBlock>
#include <QTreeView>

using namespace cuco;
using namespace cuco::ui;

namespace {

AgentStep stepOf(int id, const std::string& candidate, const std::string& title, int parent = 0)
{
    AgentStep step;
    step.id = id;
    step.parent = parent;
    step.candidate_id = candidate;
    step.agent = id % 2 ? "judge" : "tunable proposer";
    step.title = title;
    step.body = "body of " + title;
    return step;
}

/// The tree as indented lines.
QString dump(const QAbstractItemModel& model, const QModelIndex& parent = {}, int depth = 0)
{
    QString text;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        const QModelIndex index = model.index(row, 0, parent);
        text += QString(depth, QLatin1Char(' ')) + index.data().toString() + QLatin1Char('\n') +
                dump(model, index, depth + 1);
    }
    return text;
}

LlmCall someCall(int step, const std::string& candidate, const std::string& prompt)
{
    LlmCall call;
    call.agent = "judge";
    call.step = step;
    call.candidate_id = candidate;
    call.provider = "p";
    call.request.model = "m-large";
    call.request.messages = {{.text = prompt}};
    ChatResponse response;
    response.text = "Use `ncclPutSignal`.";
    response.stop_reason = StopReason::finished;
    response.usage.input = 1200;
    response.usage.output = 100;
    response.usage.reported = true;
    response.total = std::chrono::milliseconds(1500);
    response.raw_request = "{\"model\":\"m-large\"}";
    response.raw_response = "raw answer";
    call.result = response;
    call.cost_usd = 0.25;
    call.cost_source = "user's price";
    return call;
}

LlmCall failedCall(int step, const std::string& candidate)
{
    LlmCall call = someCall(step, candidate, "asked");
    ChatError error;
    error.kind = ChatErrorKind::rate_limit;
    error.error = {"The provider wants fewer requests", {}, "Wait."};
    call.result = std::unexpected(error);
    call.cost_usd.reset();
    return call;
}

bool neverACandidate(const QString&)
{
    return false;
}

}  // namespace

class TraceViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ColorScheme::light); }

    void stepsStandBelowTheirCandidateAndTheirParent()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(1, "c1", "chose"), stepOf(2, "c2", "looked"), stepOf(3, "c1", "weighed", 1)});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  chose\n   weighed\n c2\n  looked\n"));
    }

    void newStepsAreInsertedWhereTheyBelong()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(1, "c1", "chose")});
        const QPersistentModelIndex first = model.index(0, 0, model.candidateIndex(QStringLiteral("c1")));
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
        model.add({stepOf(1, "c1", "chose"), stepOf(2, "c1", "judged"), stepOf(3, "c2", "chose again")});
        QCOMPARE(inserted.size(), 3);  // a step, a candidate, its step
        QCOMPARE(reset.size(), 0);
        QVERIFY(first.isValid());
        QCOMPARE(first.data().toString(), QStringLiteral("chose"));
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  chose\n  judged\n c2\n  chose again\n"));
    }

    void aStepOfAnUnknownParentStandsBelowItsCandidate()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(5, "c1", "orphan", 99), stepOf(6, "c1", "own parent", 6)});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  orphan\n  own parent\n"));
    }

    void searchKeepsWhatContainsTheTextAndItsWayUp()
    {
        TraceModel model;
        TraceFilter filter(&model);
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(1, "c1", "chose"), stepOf(2, "c2", "looked"), stepOf(3, "c1", "weighed", 1)});
        filter.setText(QStringLiteral("WEIGHED"));
        QCOMPARE(dump(filter), QStringLiteral("run\n c1\n  chose\n   weighed\n"));
        filter.setText(QStringLiteral("body of looked"));
        QCOMPARE(dump(filter), QStringLiteral("run\n c2\n  looked\n"));
        filter.setText({});
        filter.setAgent(QStringLiteral("tunable proposer"));
        QCOMPARE(dump(filter), QStringLiteral("run\n c2\n  looked\n"));
        model.add({stepOf(4, "c3", "chose more")});
        QCOMPARE(dump(filter), QStringLiteral("run\n c2\n  looked\n c3\n  chose more\n"));
    }

    void aJudgementStandsBelowTheAttemptThatItJudges()
    {
        AgentStep judging = stepOf(3, "c2", "Judge c1");
        LlmCallSummary call;
        call.id = 1;
        call.step = 3;
        call.candidate_id = "c2";
        call.agent = "judge";
        call.model = "m";
        TraceModel model;
        const QAbstractItemModelTester tester(&model);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(2, "c1", "wrote c1"), judging, stepOf(4, "c2", "wrote c2")}, {call});
        const QModelIndex c1 = model.candidateIndex(QStringLiteral("c1"));
        QCOMPARE(model.rowCount(c1), 2);
        const QModelIndex judged = model.index(1, 0, c1);
        QCOMPARE(judged.data().toString(), QStringLiteral("Judge c1"));
        QCOMPARE(judged.data(TraceModel::candidate_role).toString(), QStringLiteral("c1"));
        QCOMPARE(model.index(0, 0, judged).data(TraceModel::candidate_role).toString(), QStringLiteral("c1"));
        QCOMPARE(model.rowCount(model.candidateIndex(QStringLiteral("c2"))), 1);
    }

    void headingsAreNearTheSizeOfTheText()
    {
        LlmCall call = someCall(0, "c1", "# A title\n\nBody.\n\n## A part\n\nMore.");
        call.request.system = "# Rules\n\nObey.";
        ChatText text;
        text.showCall(call, neverACandidate);
        AgentStep step = stepOf(1, "c1", "Chose");
        step.body = "# A title\n\nBody.";
        StepText step_text;
        step_text.showStep(step, neverACandidate);
        for (const QTextDocument* document : {text.document(), step_text.document()}) {
            int headings = 0;
            for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
                if (block.blockFormat().headingLevel() == 0) {
                    continue;
                }
                ++headings;
                for (auto part = block.begin(); !part.atEnd(); ++part) {
                    const QTextCharFormat format = part.fragment().charFormat();
                    QCOMPARE(format.intProperty(QTextFormat::FontSizeAdjustment), 0);
                    QVERIFY2(format.font().pointSizeF() <= textFont(2).pointSizeF(), qPrintable(block.text()));
                    QVERIFY(format.font().weight() >= QFont::DemiBold);
                }
                QVERIFY(block.layout()->boundingRect().height() <= 1.6 * QFontMetricsF(textFont(1)).height());
            }
            QVERIFY(headings >= 1);
        }
    }

    void markdownIsRenderedAndCodeIsMonospaced()
    {
        StepText text;
        AgentStep step = stepOf(1, "c1", "Title");
        step.body = "Some **bold** text.\n\n```\nint code;\n```\n";
        text.showStep(step, neverACandidate);
        QVERIFY(text.toPlainText().contains(QStringLiteral("Some bold text.")));
        QVERIFY(text.toPlainText().startsWith(QStringLiteral("Title\n")));
        const QTextCursor code = text.document()->find(QStringLiteral("int code"));
        QVERIFY(!code.isNull());
        QCOMPARE(code.charFormat().font().family(), monoFont().family());
    }

    void nothingIsFetchedAndHtmlIsText()
    {
        StepText text;
        AgentStep step = stepOf(1, "c1", "Title");
        QTemporaryFile secret;
        QVERIFY(secret.open());
        secret.write("secret");
        secret.flush();
        const QUrl url = QUrl::fromLocalFile(secret.fileName());
        step.body = "![x](" + url.toString().toStdString() + ") <img src='http://example.org/y.png'> <b>raw</b>";
        text.showStep(step, neverACandidate);
        QCOMPARE(text.document()->resource(QTextDocument::ImageResource, url).toByteArray(), QByteArray());
        QVERIFY(text.toPlainText().contains(QStringLiteral("<b>raw</b>")));
    }

    void idsOfCandidatesAreLinks()
    {
        StepText text;
        AgentStep step = stepOf(1, "c2", "Title");
        step.body = "Its parent was c1, not c77.";
        text.showStep(step, [](const QString& id) { return id == QStringLiteral("c1"); });
        QCOMPARE(text.document()->find(QStringLiteral("c1")).charFormat().anchorHref(), QStringLiteral("candidate:c1"));
        QVERIFY(!text.document()->find(QStringLiteral("c77")).charFormat().isAnchor());
        QSignalSpy clicked(&text, &StepText::candidateClicked);
        Q_EMIT text.anchorClicked(QUrl(QStringLiteral("candidate:c1")));
        QCOMPARE(clicked.size(), 1);
        QCOMPARE(clicked[0][0].toString(), QStringLiteral("c1"));
        Q_EMIT text.anchorClicked(QUrl(QStringLiteral("http://example.org")));
        QCOMPARE(clicked.size(), 1);
    }

    void theTunableProposersRunSaysThatNoModelWasUsed()
    {
        ViewFixture tunable;
        TraceView view(&tunable.session);
        view.show();
        QCOMPARE(view.headingText(), QStringLiteral("This run's proposer used no model: these are its own decisions."));
        ViewFixture llm("llm");
        TraceView other(&llm.session);
        QVERIFY(!other.headingText().contains(QStringLiteral("no model")));
        llm.session.setRun(nullptr);
        QVERIFY(other.headingText().startsWith(QStringLiteral("Open a run")));
    }

    void choosingAStepShowsItAndSelectsItsCandidate()
    {
        ViewFixture fixture;
        TraceView view(&fixture.session);
        view.show();
        const QModelIndex candidate = view.filter()->mapFromSource(view.model()->candidateIndex(QStringLiteral("c2")));
        view.tree()->setCurrentIndex(view.filter()->index(0, 0, candidate));
        QVERIFY(view.text()->toPlainText().contains(QStringLiteral("Chose a parent for c2")));
        QCOMPARE(fixture.session.primary(), QStringLiteral("c2"));
        Q_EMIT view.text()->anchorClicked(QUrl(QStringLiteral("candidate:c1")));
        QCOMPARE(fixture.session.primary(), QStringLiteral("c1"));
    }

    void selectingACandidateGoesToItsSteps()
    {
        ViewFixture fixture;
        TraceView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c3"));
        QCOMPARE(view.tree()->currentIndex().data().toString(), QStringLiteral("Chose a parent for c3"));
        QVERIFY(view.text()->toPlainText().contains(QStringLiteral("Chose a parent for c3")));
        QCOMPARE(fixture.session.primary(), QStringLiteral("c3"));
    }

    void stepsThatArriveAreAddedWithoutLosingTheChoice()
    {
        ViewFixture fixture;
        TraceView view(&fixture.session);
        QAbstractItemModelTester tester(view.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        const int before = view.model()->stepCount();
        fixture.addCandidate(5, {"c2"}, sourceWithChunk(128, "tile"), std::nullopt, std::nullopt);
        Q_EMIT fixture.session.stepsAdded();
        QCOMPARE(view.model()->stepCount(), before + 2);
        QCOMPARE(view.tree()->currentIndex().data().toString(), QStringLiteral("Chose a parent for c2"));
    }

    void theAgentBoxOffersTheAgentsThereAre()
    {
        ViewFixture fixture;
        TraceView view(&fixture.session);
        view.show();
        auto* agents = view.findChild<QComboBox*>(QStringLiteral("agent"));
        QCOMPARE(agents->count(), 3);
        agents->setCurrentText(QStringLiteral("judge"));
        QVERIFY(!dump(*view.filter()).contains(QStringLiteral("Chose a parent")));
        QVERIFY(dump(*view.filter()).contains(QStringLiteral("Looked at c2")));
        auto* search = view.findChild<QLineEdit*>();
        QTest::keyClicks(search, QStringLiteral("c3"));
        QTRY_VERIFY(!dump(*view.filter()).contains(QStringLiteral("Looked at c2")));
    }

    void callsStandBelowTheirStepsAndAreSummedUpOnEachLevel()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(1, "c1", "asked"), stepOf(2, "c1", "judged", 1)},
                  {summaryOf(someCall(1, "c1", "one"), 1), summaryOf(someCall(2, "c1", "two"), 2),
                   summaryOf(someCall(0, "c2", "three"), 3), summaryOf(someCall(0, "", "four"), 4)});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  asked\n   judged\n    #2 m-large\n   #1 m-large\n"
                                             " c2\n  #3 m-large\n #4 m-large\n"));
        QCOMPARE(model.totals(model.runIndex()).calls, 4);
        QCOMPARE(model.totals(model.runIndex()).input_tokens, 4 * 1200);
        const QModelIndex c1 = model.candidateIndex(QStringLiteral("c1"));
        QCOMPARE(model.totals(c1).calls, 2);
        QCOMPARE(model.totals(c1.model()->index(0, 0, c1)).cost_usd, 0.5);
        QCOMPARE(c1.siblingAtColumn(TraceModel::tokens_column).data().toString(), QStringLiteral("2.4k → 200"));
        QCOMPARE(c1.siblingAtColumn(TraceModel::cost_column).data().toString(), QStringLiteral("$0.5000"));
        LlmTotals sum;
        for (int row = 0; row < model.rowCount(model.runIndex()); ++row)
            sum += model.totals(model.index(row, 0, model.runIndex()));
        QVERIFY(sum == model.totals(model.runIndex()));
    }

    void callsCanBeGroupedByAgent()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"), TraceModel::Grouping::by_agent);
        model.add({stepOf(1, "c1", "judged"), stepOf(2, "c2", "asked")},
                  {summaryOf(someCall(1, "c1", "one"), 1), summaryOf(someCall(2, "c2", "two"), 2)});
        QCOMPARE(dump(model), QStringLiteral("run\n judge\n  judged\n   #1 m-large\n"
                                             " tunable proposer\n  asked\n   #2 m-large\n"));
        QCOMPARE(model.candidateIndex(QStringLiteral("c2")).data().toString(), QStringLiteral("asked"));
    }

    void aRunningCallBecomesTheOneThatEnded()
    {
        TraceModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        model.add({stepOf(1, "c1", "asked")});
        model.addRunning({1, {"judge", 1, "c1"}, "p", "m-large", 0});
        model.addRunning({2, {"judge", 1, "c1"}, "p", "m-large", 0});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  asked\n   ▸ m-large, running\n   ▸ m-large, running\n"));
        QCOMPARE(model.totals(model.runIndex()).calls, 0);
        model.endRunning({1, summaryOf(someCall(1, "c1", "one"), 1)});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  asked\n   #1 m-large\n   ▸ m-large, running\n"));
        QCOMPARE(model.totals(model.runIndex()).calls, 1);
        model.add({}, {summaryOf(someCall(1, "c1", "two"), 2)});  // the file was read before the end was told
        model.endRunning({2, summaryOf(someCall(1, "c1", "two"), 2)});
        QCOMPARE(dump(model), QStringLiteral("run\n c1\n  asked\n   #1 m-large\n   #2 m-large\n"));
        QCOMPARE(model.totals(model.runIndex()).calls, 2);
    }

    void filtersCombine()
    {
        TraceModel model;
        TraceFilter filter(&model);
        QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset(QStringLiteral("run"));
        LlmCall failed = failedCall(2, "c2");
        failed.request.model = "m-small";
        model.add({stepOf(1, "c1", "asked"), stepOf(2, "c2", "asked")},
                  {summaryOf(someCall(1, "c1", "one"), 1), summaryOf(failed, 2)});
        filter.setFailedOnly(true);
        QCOMPARE(dump(filter), QStringLiteral("run\n c2\n  asked\n   ✕ #2 m-small: rate limit\n"));
        filter.setFailedOnly(false);
        filter.setModel(QStringLiteral("m-large"));
        QCOMPARE(dump(filter), QStringLiteral("run\n c1\n  asked\n   #1 m-large\n"));
        filter.setModel({});
        filter.setText(QStringLiteral("in a body"), {2});
        QCOMPARE(dump(filter), QStringLiteral("run\n c2\n  asked\n   ✕ #2 m-small: rate limit\n"));
    }

    void choosingACallReadsItsConversationAndItsBodies()
    {
        ViewFixture fixture("llm");
        fixture.file->addLlmCall(someCall(1, "c1", "Make **it** faster.\n\n```cpp\nint chunk;\n```\n")).value();
        TraceView view(&fixture.session);
        view.show();
        view.tree()->setCurrentIndex(view.filter()->mapFromSource(view.model()->callIndex(1)));
        QCOMPARE(view.pages()->currentWidget(), view.callPage());
        QCOMPARE(fixture.session.primary(), QStringLiteral("c1"));
        const QString chat = view.callPage()->chat()->toPlainText();
        QVERIFY2(chat.contains(QStringLiteral("Make it faster.")), qPrintable(chat));
        QVERIFY(chat.contains(QStringLiteral("Use ncclPutSignal.")));
        const QTextCursor code = view.callPage()->chat()->document()->find(QStringLiteral("int chunk"));
        QCOMPARE(code.charFormat().font().family(), monoFont().family());
        QVERIFY(view.callPage()->factsText().contains(QStringLiteral("1.2k → 100 tokens")));
        QVERIFY(view.callPage()->rawRequest()->toPlainText().contains(QStringLiteral("\"model\"")));
        QVERIFY(view.callPage()->rawResponse()->toPlainText().contains(QStringLiteral("raw answer")));
        QVERIFY(view.headingText().contains(QStringLiteral("1 call")));
    }

    void aFailedCallSaysWhatHappenedInRed()
    {
        ViewFixture fixture("llm");
        fixture.file->addLlmCall(failedCall(1, "c1")).value();
        TraceView view(&fixture.session);
        view.show();
        view.tree()->setCurrentIndex(view.filter()->mapFromSource(view.model()->callIndex(1)));
        auto* chat = view.callPage()->chat();
        QVERIFY(chat->toPlainText().contains(QStringLiteral("The provider wants fewer requests")));
        QVERIFY(view.callPage()->errorText().startsWith(QStringLiteral("The provider wants fewer requests")));
        const QTextCursor at = chat->document()->find(QStringLiteral("The call failed: rate limit"));
        QVERIFY(!at.isNull());
        const Colors colors = colorsFor(view.palette());
        QCOMPARE(at.charFormat().foreground().color(), colors.readable(colors.failed));
    }

    void twoChosenCallsShowHowTheirPromptsDiffer()
    {
        ViewFixture fixture("llm");
        fixture.file->addLlmCall(someCall(1, "c1", "same\nold\n")).value();
        fixture.file->addLlmCall(someCall(1, "c1", "same\nnew\n")).value();
        TraceView view(&fixture.session);
        view.resize(1200, 700);
        view.show();
        view.tree()->expandAll();
        const auto click = [&](int id, Qt::KeyboardModifiers keys) {
            const QRect row = view.tree()->visualRect(view.filter()->mapFromSource(view.model()->callIndex(id)));
            QTest::mouseClick(view.tree()->viewport(), Qt::LeftButton, keys, row.center());
        };
        click(1, Qt::NoModifier);
        click(2, Qt::ControlModifier);
        QCOMPARE(view.pages()->currentWidget(), view.promptDiff());
        QCOMPARE(view.promptDiff()->panel()->diff().added, 1);
        QVERIFY(view.promptDiff()->headingText().contains(QStringLiteral("+1 −1")));
        click(2, Qt::NoModifier);
        QCOMPARE(view.pages()->currentWidget(), view.callPage());
    }

    void searchGoesThroughAllTextsAndMarksTheHits()
    {
        ViewFixture fixture("llm");
        fixture.file->addLlmCall(someCall(1, "c1", "nothing here")).value();
        fixture.file->addLlmCall(someCall(2, "c1", "the deep_needle_kernel in a prompt")).value();
        TraceView view(&fixture.session);
        view.show();
        auto* search = view.findChild<QLineEdit*>();
        QTest::keyClicks(search, QStringLiteral("Needle_K"));
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(!dump(*view.filter()).contains(QStringLiteral("#1")));
        QCOMPARE(view.tree()->currentIndex().data().toString(), QStringLiteral("#2 m-large"));
        QCOMPARE(view.callPage()->chat()->extraSelections().size(), 1);
        QCOMPARE(view.callPage()->chat()->extraSelections()[0].cursor.selectedText(), QStringLiteral("needle_k"));
    }

    void selectingACandidateGoesToItsCalls()
    {
        ViewFixture fixture("llm");
        const int first_of_c2 = 3;
        fixture.file->addLlmCall(someCall(first_of_c2, "c2", "one")).value();
        TraceView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        QCOMPARE(view.tree()->currentIndex().data().toString(), QStringLiteral("#1 m-large"));
        QCOMPARE(view.pages()->currentWidget(), view.callPage());
    }

    void aRunningCallIsShownWhileItComes()
    {
        ViewFixture fixture("llm");
        TraceView view(&fixture.session);
        view.show();
        fixture.run->apply(LlmCallStarted{7, {"judge", 1, "c1"}, "p", "m-large", 0});
        QVERIFY(dump(*view.filter()).contains(QStringLiteral("▸ m-large, running")));
        fixture.session.select(QStringLiteral("c1"));
        QCOMPARE(view.tree()->currentIndex().data().toString(), QStringLiteral("▸ m-large, running"));
        fixture.run->apply(LlmText{7, "Hello, \xe2\x86"});
        QTRY_COMPARE(view.callPage()->chat()->toPlainText(), QStringLiteral("Hello, "));
        fixture.run->apply(LlmText{7, "\x92 node"});
        QTRY_COMPARE(view.callPage()->chat()->toPlainText(), QStringLiteral("Hello, → node"));
        const LlmCall call = someCall(1, "c1", "asked");
        fixture.run->apply(LlmCallEnded{7, summaryOf(call, fixture.file->addLlmCall(call).value())});
        QVERIFY(view.callPage()->chat()->toPlainText().contains(QStringLiteral("Use ncclPutSignal.")));
        QVERIFY(fixture.run->runningCalls().empty());
    }

    void aViewThatIsOpenedLaterHasTheRunningCallToo()
    {
        ViewFixture fixture("llm");
        fixture.run->apply(LlmCallStarted{7, {"judge", 1, "c1"}, "p", "m-large", 0});
        fixture.run->apply(LlmText{7, "so far"});
        TraceView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        QCOMPARE(view.callPage()->chat()->toPlainText(), QStringLiteral("so far"));
    }
};

QTEST_MAIN(TraceViewTest)
#include "trace_view_test.moc"
