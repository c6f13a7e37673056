// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/new_run_dialog.h"
#include "ui/shell/new_run_settings.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class NewRunTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void enterStartsWithTheDefaults();
    void theProposedFileIsFree();
    void aTakenFileNameIsRefusedWithASentence();
    void aFolderThatCannotBeWrittenIsRefused();
    void anotherEndingIsRefused();
    void theNumberOfCandidatesIsShown();
    void aMissingSeedSourceIsRefused();
    void theSeedSourceIsReadIntoTheConfiguration();
    void aNodeWithTooFewRanksIsRefused();
    void anUnusableNodeIsRefusedWithItsRemedy();

private:
    template <class Widget>
    Widget* field(const char* name) const
    {
        return dialog_->findChild<Widget*>(QString::fromLatin1(name));
    }
    QString problem() const { return field<QLabel>("problem")->text(); }

    PrivateFolder folder_;
    NodeProbes nodes_;
    std::vector<Workload> workloads_;
    std::unique_ptr<NewRunDialog> dialog_;
};

void NewRunTest::initTestCase()
{
    applyTheme(*qApp, ColorScheme::light);
    auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads");
    QVERIFY(workloads.has_value());
    workloads_ = std::move(*workloads);
    QSettings().setValue(QStringLiteral("newRun/folder"), folder_.file({}));
}

void NewRunTest::init()
{
    dialog_ = std::make_unique<NewRunDialog>(workloads_, nodes_);
    dialog_->show();
    QVERIFY(QTest::qWaitForWindowExposed(dialog_.get()));
}

void NewRunTest::cleanup()
{
    dialog_.reset();
}

void NewRunTest::enterStartsWithTheDefaults()
{
    QSignalSpy accepted(dialog_.get(), &QDialog::accepted);
    QTest::keyClick(dialog_.get(), Qt::Key_Return);
    QCOMPARE(accepted.size(), 1);
    const RunConfig config = dialog_->config();
    QCOMPARE(config.workload, workloads_.front().name);
    QCOMPARE(config.node, std::string("emulated"));
    QCOMPARE(config.proposer, std::string("tunable"));
    QCOMPARE(config.ranks, workloads_.front().ranks.front());
    QVERIFY(validate(config).has_value());
    QVERIFY(dialog_->path().endsWith(QStringLiteral(".cuco")));
}

void NewRunTest::theProposedFileIsFree()
{
    const QString name = QString::fromStdString(workloads_.front().name);
    QFile taken(folder_.file(name + QStringLiteral(".cuco")));
    QVERIFY(taken.open(QIODevice::WriteOnly));
    NewRunDialog second(workloads_, nodes_);
    QCOMPARE(second.path(), QDir::cleanPath(folder_.file(name + QStringLiteral("-2.cuco"))));
    QVERIFY(taken.remove());
}

void NewRunTest::aTakenFileNameIsRefusedWithASentence()
{
    const QString path = folder_.file(QStringLiteral("taken.cuco"));
    writeRunFile(path);
    field<QLineEdit>("path")->setText(path);
    QVERIFY(problem().contains(QStringLiteral("exists already")));
    QVERIFY(!field<QPushButton>("start")->isEnabled());
    field<QLineEdit>("path")->setText(folder_.file(QStringLiteral("free.cuco")));
    QVERIFY(problem().isEmpty());
    QVERIFY(field<QPushButton>("start")->isEnabled());
}

void NewRunTest::aFolderThatCannotBeWrittenIsRefused()
{
    QFile file(folder_.file(QStringLiteral("a-file")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    field<QLineEdit>("path")->setText(file.fileName() + QStringLiteral("/below/run.cuco"));
    QVERIFY(problem().contains(QStringLiteral("Choose another folder")));
}

void NewRunTest::anotherEndingIsRefused()
{
    field<QLineEdit>("path")->setText(folder_.file(QStringLiteral("run.txt")));
    QVERIFY(problem().contains(QStringLiteral(".cuco")));
    field<QLineEdit>("path")->clear();
    QVERIFY(!problem().isEmpty());
}

void NewRunTest::theNumberOfCandidatesIsShown()
{
    field<QSpinBox>("generations")->setValue(10);
    field<QSpinBox>("islands")->setValue(3);
    field<QSpinBox>("children")->setValue(2);
    QCOMPARE(dialog_->config().proposals(), 63);
    bool shown = false;
    for (const auto* label : dialog_->findChildren<QLabel*>()) {
        shown = shown || label->text().contains(QStringLiteral("63"));
    }
    QVERIFY(shown);
}

void NewRunTest::aMissingSeedSourceIsRefused()
{
    field<QLineEdit>("seedSource")->setText(folder_.file(QStringLiteral("missing.cu")));
    QVERIFY(problem().contains(QStringLiteral("does not exist")));
}

void NewRunTest::theSeedSourceIsReadIntoTheConfiguration()
{
    QFile seed(folder_.file(QStringLiteral("seed.cu")));
    QVERIFY(seed.open(QIODevice::WriteOnly));
    seed.write("// my kernel\n");
    seed.close();
    field<QLineEdit>("seedSource")->setText(seed.fileName());
    dialog_->findChild<QPushButton*>(QStringLiteral("start"))->click();
    QCOMPARE(dialog_->config().seed_source, std::string("// my kernel\n"));
}

void NewRunTest::aNodeWithTooFewRanksIsRefused()
{
    NodeProbe probe;
    probe.usable = true;
    probe.max_ranks = 2;
    RunConfig config = dialog_->config();
    config.ranks = 4;
    const QString path = folder_.file(QStringLiteral("ranks.cuco"));
    QVERIFY(newRunProblem(config, &workloads_.front(), &probe, path).contains(QStringLiteral("2 ranks")));
    probe.max_ranks = 8;
    QVERIFY(newRunProblem(config, &workloads_.front(), &probe, path).isEmpty());
}

void NewRunTest::anUnusableNodeIsRefusedWithItsRemedy()
{
    NodeProbe probe;
    probe.problems = {{"No compiler was found", "g++", "Install g++."}};
    const QString problem =
        newRunProblem(dialog_->config(), &workloads_.front(), &probe, folder_.file(QStringLiteral("node.cuco")));
    QCOMPARE(problem, QStringLiteral("No compiler was found. Install g++."));
}

QTEST_MAIN(NewRunTest)
#include "new_run_test.moc"
