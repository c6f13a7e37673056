// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_keychain.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/shell/new_run_settings.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QTimer>
#include <QToolButton>

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
    void severalHostsAreNamedOnceAndAreANodeFromThenOn();
    void severalHostsThatAreNotNamedLeaveTheNodeAsItWas();
    void aConversionIsConfiguredAsTheFastPathNeedsIt();
    void aSearchByModelsAsksForItsProviderAndKeepsTheSearchsRows();
    void withoutAProviderTheWorkloadsSeedIsSaidToBeTaken();
    void onlyWhatTheProviderTakesIsShown();
    void theKeysStateIsSaidButNeverTheKey();
    void theKeysOfBedrockAreSaidWhereEachIs();
    void aProviderWithoutAModelIsRefused();
    void aProgramsArgumentsKeepTheirQuotes();
    void choicesAreRememberedWithoutSecrets();
    void theKeyboardGoesThroughTheFieldsFromTopToBottom();
    void nothingIsScrolledOutOfSightWhereThereIsRoom();
    void allSettingsFitALowWindowByScrolling();

private:
    template <class Widget>
    Widget* field(const char* name) const
    {
        return dialog_->findChild<Widget*>(QString::fromLatin1(name));
    }
    void choose(const char* name, const char* data) const
    {
        auto* box = field<QComboBox>(name);
        box->setCurrentIndex(box->findData(QString::fromLatin1(data)));
    }
    QString problem() const { return field<QLabel>("problem")->text(); }

    PrivateFolder folder_;
    NodeProbes nodes_;
    KeyPlaces keys_{noKeychain(noService())};
    std::vector<Workload> workloads_;
    std::unique_ptr<NewRunDialog> dialog_;
};

void NewRunTest::initTestCase()
{
    applyTheme(*qApp, ColorScheme::light);
    auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads");
    QVERIFY(workloads.has_value());
    workloads_ = std::move(*workloads);
}

void NewRunTest::init()
{
    QSettings().clear();
    QSettings().setValue(QStringLiteral("newRun/folder"), folder_.file({}));
    dialog_ = std::make_unique<NewRunDialog>(workloads_, nodes_, keys_);
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
    NewRunDialog second(workloads_, nodes_, keys_);
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

void NewRunTest::aConversionIsConfiguredAsTheFastPathNeedsIt()
{
    choose("proposer", "fastpath");
    QVERIFY(!field<QSpinBox>("generations")->isVisible());
    QFile source(folder_.file(QStringLiteral("program.cu")));
    QVERIFY(source.open(QIODevice::WriteOnly));
    source.write("// host-driven\n");
    source.close();
    field<QLineEdit>("hostSource")->setText(source.fileName());
    choose("backend", "gin");
    choose("provider", "anthropic");
    field<QLineEdit>("model")->setText(QStringLiteral("some-model"));
    field<QLineEdit>("judgeModel")->setText(QStringLiteral("other-model"));
    field<QDoubleSpinBox>("budget")->setValue(2.5);
    QCOMPARE(problem(), QString());
    field<QPushButton>("start")->click();
    const RunConfig config = dialog_->config();
    QCOMPARE(config.proposer, std::string("fastpath"));
    QCOMPARE(config.seed_source, std::string("// host-driven\n"));
    QCOMPARE(config.fast_path.backend, std::string("gin"));
    QCOMPARE(config.proposals(), config.fast_path.attempts());
    QCOMPARE(config.provider.provider, std::string("anthropic"));
    QCOMPARE(config.provider.model, std::string("some-model"));
    QCOMPARE(config.provider.judge_model, std::string("other-model"));
    QCOMPARE(config.budget_usd, 2.5);
    QVERIFY(validate(config).has_value());
}

void NewRunTest::aSearchByModelsAsksForItsProviderAndKeepsTheSearchsRows()
{
    choose("proposer", "llm");
    choose("provider", "");
    QVERIFY(problem().contains(QStringLiteral("Choose who writes the candidates")));
    QVERIFY(!field<QPushButton>("start")->isEnabled());
    QVERIFY(!field<QLineEdit>("hostSource")->isVisible());
    QVERIFY(!field<QComboBox>("backend")->isVisible());
    QVERIFY(field<QSpinBox>("generations")->isVisible());
    choose("provider", "anthropic");
    QVERIFY(!field<QLineEdit>("judgeModel")->isVisible());
    field<QLineEdit>("model")->setText(QStringLiteral("some-model"));
    field<QDoubleSpinBox>("budget")->setValue(7.5);
    QCOMPARE(problem(), QString());
    const RunConfig config = dialog_->config();
    QCOMPARE(config.proposer, std::string("llm"));
    QCOMPARE(config.provider.model, std::string("some-model"));
    QCOMPARE(config.budget_usd, 7.5);
    QCOMPARE(config.islands, RunConfig().islands);
    QVERIFY(validate(config).has_value());
}

void NewRunTest::withoutAProviderTheWorkloadsSeedIsSaidToBeTaken()
{
    choose("proposer", "fastpath");
    choose("provider", "");
    QVERIFY(field<QLabel>("keyStatus")->text().contains(QStringLiteral("workload's own seed")));
    QVERIFY(field<QPushButton>("start")->isEnabled());
    QVERIFY(dialog_->config().provider.provider.empty());
    QCOMPARE(dialog_->config().budget_usd, 0.0);
    choose("proposer", "tunable");
    QVERIFY(!field<QLabel>("keyStatus")->isVisible());
    QVERIFY(field<QSpinBox>("generations")->isVisible());
}

void NewRunTest::onlyWhatTheProviderTakesIsShown()
{
    choose("proposer", "fastpath");
    const auto shown = [this] {
        QStringList names;
        for (const char* name :
             {"model", "judgeModel", "baseUrl", "keyName", "region", "command", "answers", "recording"}) {
            if (field<QLineEdit>(name)->isVisible()) {
                names << QString::fromLatin1(name);
            }
        }
        return names.join(QLatin1Char(' '));
    };
    const std::pair<const char*, const char*> expected[] = {
        {"", ""},
        {"anthropic", "model judgeModel baseUrl keyName"},
        {"openai", "model judgeModel baseUrl keyName"},
        {"bedrock", "model judgeModel region"},
        {"command", "model judgeModel command"},
        {"manual", "answers"},
        {"replay", "recording"},
    };
    for (const auto& [provider, fields] : expected) {
        choose("provider", provider);
        QCOMPARE(shown(), QString::fromLatin1(fields));
    }
}

void NewRunTest::theKeysStateIsSaidButNeverTheKey()
{
    choose("proposer", "fastpath");
    qunsetenv("ANTHROPIC_API_KEY");
    choose("provider", "anthropic");
    auto* status = field<QLabel>("keyStatus");
    QTRY_COMPARE(
        status->text(),
        QStringLiteral("ANTHROPIC_API_KEY is neither in the keychain nor in the environment: the run will pause."));
    qputenv("ANTHROPIC_API_KEY", "not-to-be-shown");
    keys_.lookAgain();
    QTRY_COMPARE(status->text(), QStringLiteral("ANTHROPIC_API_KEY is set in the environment."));
    qunsetenv("ANTHROPIC_API_KEY");
}

void NewRunTest::theKeysOfBedrockAreSaidWhereEachIs()
{
    ProviderSettings bedrock;
    bedrock.provider = "bedrock";
    std::map<std::string, KeyPlace> places{{"AWS_BEARER_TOKEN_BEDROCK", KeyPlace::none},
                                           {"AWS_ACCESS_KEY_ID", KeyPlace::environment},
                                           {"AWS_SECRET_ACCESS_KEY", KeyPlace::none}};
    const auto place = [&places](const std::string& name) { return places.at(name); };
    QVERIFY(answersText(bedrock, place).startsWith(QStringLiteral("AWS_SECRET_ACCESS_KEY is neither")));
    places["AWS_SECRET_ACCESS_KEY"] = KeyPlace::keychain;
    QCOMPARE(answersText(bedrock, place),
             QStringLiteral("AWS_SECRET_ACCESS_KEY is in the keychain. AWS_ACCESS_KEY_ID is set in the environment."));
    places["AWS_ACCESS_KEY_ID"] = KeyPlace::keychain;
    QCOMPARE(answersText(bedrock, place),
             QStringLiteral("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are in the keychain."));
    places["AWS_BEARER_TOKEN_BEDROCK"] = KeyPlace::environment;
    QCOMPARE(answersText(bedrock, place), QStringLiteral("AWS_BEARER_TOKEN_BEDROCK is set in the environment."));
}

void NewRunTest::aProviderWithoutAModelIsRefused()
{
    choose("proposer", "fastpath");
    choose("provider", "openai");
    QCOMPARE(problem(), QStringLiteral("No model of openai is named. Name the model that is to answer."));
    QVERIFY(!field<QPushButton>("start")->isEnabled());
    choose("provider", "manual");
    QCOMPARE(problem(), QString());
    QVERIFY(field<QLabel>("keyStatus")->text().contains(QStringLiteral("window shows each prompt")));
    field<QLineEdit>("answers")->setText(folder_.file(QStringLiteral("nowhere")));
    QVERIFY(problem().contains(QStringLiteral("does not exist")));
    field<QLineEdit>("answers")->setText(folder_.file({}));
    QCOMPARE(problem(), QString());
    choose("provider", "command");
    QVERIFY(problem().contains(QStringLiteral("Name the program")));
    choose("provider", "replay");
    field<QLineEdit>("recording")->setText(folder_.file(QStringLiteral("missing.json")));
    QVERIFY(problem().contains(QStringLiteral("does not exist")));
}

void NewRunTest::aProgramsArgumentsKeepTheirQuotes()
{
    choose("proposer", "fastpath");
    choose("provider", "command");
    field<QLineEdit>("command")->setText(QStringLiteral("/opt/answer --style \"short and plain\""));
    const std::vector<std::string> expected{"/opt/answer", "--style", "short and plain"};
    QVERIFY(dialog_->config().provider.command == expected);
}

void NewRunTest::choicesAreRememberedWithoutSecrets()
{
    choose("proposer", "fastpath");
    choose("provider", "command");
    field<QLineEdit>("model")->setText(QStringLiteral("some-model"));
    field<QLineEdit>("command")->setText(QStringLiteral("/opt/answer --key hush"));
    field<QLineEdit>("baseUrl")->setText(QStringLiteral("https://me:hush@example.org/v1"));
    field<QLineEdit>("keyName")->setText(QStringLiteral("sk-hush"));
    field<QPushButton>("start")->click();
    NewRunDialog again(workloads_, nodes_, keys_);
    const auto text = [&again](const char* name) {
        return again.findChild<QLineEdit*>(QString::fromLatin1(name))->text();
    };
    QCOMPARE(again.config().proposer, std::string("fastpath"));
    QCOMPARE(again.config().provider.provider, std::string("command"));
    QCOMPARE(text("model"), QStringLiteral("some-model"));
    QCOMPARE(text("command"), QStringLiteral("/opt/answer"));
    QCOMPARE(text("baseUrl"), QString());
    const QSettings settings;
    for (const QString& key : settings.allKeys()) {
        QVERIFY2(!settings.value(key).toString().contains(QStringLiteral("hush")), qPrintable(key));
    }
}

void NewRunTest::theKeyboardGoesThroughTheFieldsFromTopToBottom()
{
    choose("proposer", "fastpath");
    choose("provider", "anthropic");
    auto* proposer = field<QComboBox>("proposer");
    proposer->setFocus();
    const auto top = [&](const QWidget* widget) { return widget->mapTo(dialog_.get(), QPoint(0, 0)).y(); };
    // The rows that came are laid out.
    QTRY_VERIFY(top(field<QComboBox>("provider")) > top(proposer) &&
                top(field<QLineEdit>("model")) > top(field<QComboBox>("provider")) &&
                top(field<QLineEdit>("path")) > top(field<QLineEdit>("model")));
    int y = -1;
    for (int step = 0; step < 20 && !field<QLineEdit>("path")->hasFocus(); ++step) {
        const int here = top(dialog_->focusWidget());
        QVERIFY2(here + grid >= y, qPrintable(dialog_->focusWidget()->objectName()));
        y = here;
        QTest::keyClick(dialog_->focusWidget(), Qt::Key_Tab);
    }
    QVERIFY(field<QLineEdit>("path")->hasFocus());
}

void NewRunTest::nothingIsScrolledOutOfSightWhereThereIsRoom()
{
    const auto* scroll = dialog_->findChild<QScrollArea*>();
    for (int index = 0; index < static_cast<int>(workloads_.size()); ++index) {
        field<QComboBox>("workload")->setCurrentIndex(index);
        QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
    }
    choose("proposer", "fastpath");
    QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
}

void NewRunTest::allSettingsFitALowWindowByScrolling()
{
    choose("proposer", "fastpath");
    choose("provider", "openai");
    auto* more = dialog_->findChild<QToolButton*>();
    QTest::mouseClick(more, Qt::LeftButton);
    QVERIFY(field<QSpinBox>("workers")->isVisible());
    QVERIFY2(dialog_->minimumSizeHint().height() <= 600,
             qPrintable(QString::number(dialog_->minimumSizeHint().height())));
    dialog_->resize(dialog_->width(), 560);
    QCOMPARE(dialog_->height(), 560);
    const auto isInside = [this](const QWidget* widget) {
        return dialog_->rect().contains(QRect(widget->mapTo(dialog_.get(), QPoint(0, 0)), widget->size())) &&
               !widget->visibleRegion().isEmpty();
    };
    QVERIFY(isInside(field<QPushButton>("start")));
    // Tab goes to what was scrolled out of sight, and it comes into sight.
    auto* last = field<QSpinBox>("workers");
    field<QComboBox>("proposer")->setFocus();
    for (int step = 0; step < 40 && !last->hasFocus(); ++step) {
        QTest::keyClick(dialog_->focusWidget(), Qt::Key_Tab);
    }
    QVERIFY(last->hasFocus());
    QTRY_VERIFY(isInside(last));
    QVERIFY(isInside(field<QPushButton>("start")));
}

void NewRunTest::severalHostsAreNamedOnceAndAreANodeFromThenOn()
{
    const QString wanted = QStringLiteral("srun:gpu-a=4,gpu-b=2");
    QStringList labels;
    // The first answer is wrong, the second is right.
    const auto answer = [&](const QString& text) {
        auto* input = dialog_->findChild<QInputDialog*>(QStringLiteral("severalHosts"));
        QVERIFY(input);
        labels << input->labelText();
        auto* line = input->findChild<QLineEdit*>();
        line->selectAll();
        QTest::keyClicks(line, text);
        QTest::keyClick(line, Qt::Key_Return);
    };
    QTimer::singleShot(0, dialog_.get(), [&] {
        QTimer::singleShot(0, dialog_.get(), [&] { answer(wanted); });
        answer(QStringLiteral("srun:gpu-a=4"));
    });
    auto* node = field<QComboBox>("node");
    node->setFocus();
    QTest::keyClick(node, Qt::Key_End);
    QCOMPARE(labels.size(), 2);
    QVERIFY2(labels[1].contains(QStringLiteral("One host is no span")), qPrintable(labels[1]));
    QCOMPARE(node->currentData().toString(), wanted);
    QCOMPARE(dialog_->config().node, wanted.toStdString());
    // srun is not here, or has no such hosts: the dialog says so and starts nothing.
    QTRY_VERIFY_WITH_TIMEOUT(!problem().isEmpty(), 130'000);
    QVERIFY(!field<QPushButton>("start")->isEnabled());

    NodeProbes later;
    NewRunDialog again(workloads_, later, keys_);
    auto* nodes = again.findChild<QComboBox*>(QStringLiteral("node"));
    QVERIFY(nodes->findData(wanted) >= 0);
    QVERIFY2(!later.find(wanted), "hosts are not asked before somebody wants them");
    QVERIFY(nodes->itemText(nodes->findData(wanted)).contains(QStringLiteral("not asked yet")));
}

void NewRunTest::severalHostsThatAreNotNamedLeaveTheNodeAsItWas()
{
    auto* node = field<QComboBox>("node");
    node->setFocus();
    const int several = node->findData(QStringLiteral("several_hosts"));
    QCOMPARE(several, node->count() - 1);
    // Once as the dialog was opened, once after a node was chosen.
    for (const bool chosen : {false, true}) {
        if (chosen) {
            QTest::keyClick(node, Qt::Key_Home);
            QCOMPARE(node->currentData().toString(), QStringLiteral("local"));
        }
        const QString before = node->currentData().toString();
        bool asked = false;
        QTimer::singleShot(0, dialog_.get(), [&] {
            auto* input = dialog_->findChild<QInputDialog*>(QStringLiteral("severalHosts"));
            QVERIFY(input);
            asked = true;
            QTest::keyClick(input, Qt::Key_Escape);
        });
        QTest::keyClick(node, Qt::Key_End);
        QVERIFY(asked);
        QCOMPARE(node->currentData().toString(), before);
        QCOMPARE(dialog_->config().node, before.toStdString());
        // What arrives from a node that is looked at does not bring it back.
        Q_EMIT nodes_.changed();
        QCOMPARE(node->currentData().toString(), before);
    }
    node->setCurrentIndex(several);
    QVERIFY(!field<QPushButton>("start")->isEnabled());
    QVERIFY(problem().contains(QStringLiteral("No hosts are named")));
}

QTEST_MAIN(NewRunTest)
#include "new_run_test.moc"
