// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/database.h"
#include "core/run/import_shinka.h"
#include "ui/population/archive_view.h"
#include "ui/population/candidate_table_model.h"
#include "ui/shell/inspector.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"
#include "ui/views/timeline_view.h"
#include "ui/views/trace/call_page.h"
#include "ui/views/trace_view.h"
#include "ui_test_support.h"

#include <QAction>
#include <QLabel>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

/// What the views make of a run without directives, timelines and times of calls.
class ImportedRunTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void thePopulationSaysWhoseFiguresTheseAre();
    void theArchiveSaysWhyItIsEmpty();
    void theTimelineSaysWhyThereIsNone();
    void aCallOfUnknownDurationHasNone();
    void nothingCanBeEvaluatedInIt();

private:
    QString texts(const QWidget& widget) const
    {
        QStringList all;
        for (const QLabel* label : widget.findChildren<QLabel*>())
            if (label->isVisible())
                all << label->text();
        return all.join(QLatin1Char('\n'));
    }

    std::unique_ptr<PrivateFolder> folder_;
    std::unique_ptr<MainWindow> window_;
};

void ImportedRunTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    folder_ = std::make_unique<PrivateFolder>();
    applyTheme(*qApp, ColorScheme::light);
    const std::string path = folder_->file(QStringLiteral("evolution_db.sqlite")).toStdString();
    const QString run = folder_->file(QStringLiteral("imported.cuco"));
    {
        auto database = Database::open(path, Database::Mode::create);
        QVERIFY(database.has_value());
        require(database->execute(R"sql(
            CREATE TABLE programs (id TEXT PRIMARY KEY, code TEXT NOT NULL, parent_id TEXT, generation INTEGER NOT NULL,
                timestamp REAL NOT NULL, combined_score REAL, public_metrics TEXT, correct BOOLEAN, metadata TEXT,
                island_idx INTEGER);
            INSERT INTO programs VALUES
                ('a', '// a', NULL, 0, 1.5, 100, '{"time_ms": 10}', 1, '{"patch_type": "init"}', 0),
                ('b', '// b', 'a', 1, 2.5, 200, '{"time_ms": 4}', 1, '{"patch_name": "overlap", "llm_result":
                    {"content": "an answer", "msg": "a question", "system_msg": "a system", "model_name": "some-model",
                     "input_tokens": 12, "output_tokens": 34, "cost": 0.5}}', 0);
        )sql"));
    }
    QVERIFY(importShinka(path, run.toStdString()).has_value());
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    QVERIFY(window_->openFile(run));
    QCOMPARE(window_->session()->primary(), QStringLiteral("c1"));
}

void ImportedRunTest::thePopulationSaysWhoseFiguresTheseAre()
{
    const QString inspected = texts(*window_->findChild<Inspector*>());
    QVERIFY2(inspected.contains(QStringLiteral("verified, by its own word")), qPrintable(inspected));
    QVERIFY(inspected.contains(QStringLiteral("nothing was measured here")));
    QVERIFY2(!inspected.contains(QStringLiteral("Sandbox")), "nothing ran");
    const auto* table = window_->findChild<CandidateTableModel*>();
    QCOMPARE(table->headerData(CandidateTableModel::speedup_column, Qt::Horizontal, Qt::DisplayRole).toString(),
             QStringLiteral("Imported ×"));
}

void ImportedRunTest::theArchiveSaysWhyItIsEmpty()
{
    window_->showTab(Tab::archive);
    QVERIFY(texts(*window_->findChild<ArchiveView*>()).contains(QStringLiteral("declare no directive")));
}

void ImportedRunTest::theTimelineSaysWhyThereIsNone()
{
    window_->showTab(Tab::timeline);
    QVERIFY(texts(*window_->findChild<TimelineView*>())
                .contains(QStringLiteral("c1 has no timeline: the run was imported, and nothing was measured here.")));
}

void ImportedRunTest::aCallOfUnknownDurationHasNone()
{
    window_->showTab(Tab::traces);
    auto* view = window_->findChild<TraceView*>();
    QVERIFY2(view->headingText().endsWith(QStringLiteral("$0.5000.")), qPrintable(view->headingText()));
    const QString facts = texts(*view->callPage());
    QVERIFY2(!facts.contains(QStringLiteral("0 ms")) && facts.count(QStringLiteral("imported")) == 2,
             qPrintable(facts));
}

void ImportedRunTest::nothingCanBeEvaluatedInIt()
{
    QVERIFY(!window_->actions().edit_copy->isEnabled());
    QVERIFY(!window_->actions().start->isEnabled());
    QVERIFY(window_->actions().reject->isEnabled());
    window_->showTab(Tab::notes);
    QVERIFY(window_->findChild<QLabel*>(QStringLiteral("notesHeading"))->text().contains(QStringLiteral("imported")));
}

QTEST_MAIN(ImportedRunTest)
#include "imported_run_test.moc"
