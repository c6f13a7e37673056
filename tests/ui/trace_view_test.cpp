// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace_view.h"
#include "ui/style/theme.h"
#include "ui/views/trace/step_text.h"
#include "ui/views/trace/trace_model.h"
#include "view_fixture.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
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
        TraceFilter filter;
        filter.setSourceModel(&model);
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
        auto* agents = view.findChild<QComboBox*>();
        QCOMPARE(agents->count(), 3);
        agents->setCurrentText(QStringLiteral("judge"));
        QVERIFY(!dump(*view.filter()).contains(QStringLiteral("Chose a parent")));
        QVERIFY(dump(*view.filter()).contains(QStringLiteral("Looked at c2")));
        auto* search = view.findChild<QLineEdit*>();
        QTest::keyClicks(search, QStringLiteral("c3"));
        QVERIFY(!dump(*view.filter()).contains(QStringLiteral("Looked at c2")));
    }
};

QTEST_MAIN(TraceViewTest)
#include "trace_view_test.moc"
