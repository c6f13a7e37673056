// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_keychain.h"
#include "ui/keys/api_keys_dialog.h"
#include "ui/keys/keychain_keys.h"
#include "ui/shell/main_window.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPushButton>
#include <QTreeWidget>

#include <chrono>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;
using namespace std::chrono_literals;

namespace {

const char* const variables[] = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY",        "AWS_BEARER_TOKEN_BEDROCK",
                                 "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"};

}  // namespace

class ApiKeysTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void everyKeyOfEveryProviderIsListedWithItsPlace();
    void aTypedKeyGoesIntoTheKeychainAndIsNotShown();
    void aKeyIsRemovedFromTheKeychainOnly();
    void whatWasTypedForOneKeyDoesNotGoToAnother();
    void aKeyWithBlanksInItIsRefused();
    void aKeyOfAnotherNameIsStoredUnderIt();
    void aNameThatARunMentionsIsListed();
    void aNameWithoutAKeyIsTakenOffTheList();
    void withoutAServiceASentenceSaysWhatToDo();
    void anOldAnswerDoesNotHideWhatWasStoredSince();
    void aSilentKeychainLeavesTheDialogUsable();
    void theEngineAsksTheKeychainFirstThenTheEnvironment();
    void aKeychainThatFailsIsNotAskedAgainAtOnce();
    void aSilentKeychainIsWaitedForWithinLimits();
    void theMenuOpensTheDialog();
    void newRunLeadsToTheKeysAndSeesThemCome();
    void aKeyIsInNoSettingsFile();

private:
    void openDialog();
    template <class Widget>
    Widget* field(const char* name) const
    {
        return dialog_->findChild<Widget*>(QString::fromLatin1(name));
    }
    QTreeWidgetItem* item(const char* name) const;
    QString place(const char* name) const { return item(name)->text(1); }
    void choose(const char* name) { field<QTreeWidget>("keys")->setCurrentItem(item(name)); }
    void type(const QString& text) { QTest::keyClicks(field<QLineEdit>("keyValue"), text); }

    PrivateFolder folder_;
    std::shared_ptr<FakeKeychain> keychain_;
    std::unique_ptr<KeyPlaces> places_;
    std::unique_ptr<ApiKeysDialog> dialog_;
};

void ApiKeysTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    applyTheme(*qApp, ColorScheme::light);
}

void ApiKeysTest::init()
{
    for (const char* variable : variables) {
        qunsetenv(variable);
    }
    QSettings().clear();
    keychain_ = std::make_shared<FakeKeychain>();
    places_ = std::make_unique<KeyPlaces>(keychain_);
}

void ApiKeysTest::cleanup()
{
    dialog_.reset();
    places_.reset();
}

void ApiKeysTest::openDialog()
{
    dialog_ = std::make_unique<ApiKeysDialog>(*places_);
    dialog_->show();
    QVERIFY(QTest::qWaitForWindowExposed(dialog_.get()));
}

QTreeWidgetItem* ApiKeysTest::item(const char* name) const
{
    for (QTreeWidgetItemIterator at(field<QTreeWidget>("keys")); *at; ++at) {
        if ((*at)->data(0, Qt::UserRole).toString() == QLatin1String(name)) {
            return *at;
        }
    }
    qFatal("There is no key %s in the list.", name);
}

void ApiKeysTest::everyKeyOfEveryProviderIsListedWithItsPlace()
{
    qputenv("OPENAI_API_KEY", "from-environment");
    keychain_->write("AWS_SECRET_ACCESS_KEY", Secret("kept"), [](const Result<void>&) {});
    openDialog();
    QTRY_COMPARE(place("AWS_SECRET_ACCESS_KEY"), QStringLiteral("keychain"));
    QTRY_COMPARE(place("OPENAI_API_KEY"), QStringLiteral("environment variable OPENAI_API_KEY"));
    for (const char* name :
         {"ANTHROPIC_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"}) {
        QTRY_COMPARE(place(name), QStringLiteral("none"));
    }
    QVERIFY(!field<QLabel>("keyProblem")->isVisible());
}

void ApiKeysTest::aTypedKeyGoesIntoTheKeychainAndIsNotShown()
{
    openDialog();
    choose("ANTHROPIC_API_KEY");
    auto* value = field<QLineEdit>("keyValue");
    QCOMPARE(value->echoMode(), QLineEdit::Password);
    QVERIFY(!field<QPushButton>("saveKey")->isEnabled());
    type(QStringLiteral(" sk-typed "));
    QTest::keyClick(value, Qt::Key_Return);
    QTRY_COMPARE(keychain_->key("ANTHROPIC_API_KEY"), std::string("sk-typed"));
    QTRY_COMPARE(place("ANTHROPIC_API_KEY"), QStringLiteral("keychain"));
    QVERIFY(dialog_->isVisible());
    QVERIFY(value->text().isEmpty());
    // Nor when the dialog is opened again.
    openDialog();
    QTRY_COMPARE(place("ANTHROPIC_API_KEY"), QStringLiteral("keychain"));
    QVERIFY(field<QLineEdit>("keyValue")->text().isEmpty());
}

void ApiKeysTest::aKeyIsRemovedFromTheKeychainOnly()
{
    qputenv("ANTHROPIC_API_KEY", "from-environment");
    keychain_->write("ANTHROPIC_API_KEY", Secret("kept"), [](const Result<void>&) {});
    openDialog();
    choose("ANTHROPIC_API_KEY");
    auto* button = field<QPushButton>("removeKey");
    QTRY_VERIFY(button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    QTRY_COMPARE(place("ANTHROPIC_API_KEY"), QStringLiteral("environment variable ANTHROPIC_API_KEY"));
    QVERIFY(keychain_->key("ANTHROPIC_API_KEY").empty());
    QVERIFY(!button->isEnabled());
    QCOMPARE(qgetenv("ANTHROPIC_API_KEY"), QByteArray("from-environment"));
}

void ApiKeysTest::whatWasTypedForOneKeyDoesNotGoToAnother()
{
    openDialog();
    choose("AWS_ACCESS_KEY_ID");
    type(QStringLiteral("for-the-id"));
    QTest::keyClick(field<QTreeWidget>("keys"), Qt::Key_Down);
    QVERIFY(field<QLabel>("keyLabel")->text().contains(QStringLiteral("AWS_SECRET_ACCESS_KEY")));
    QVERIFY(field<QLineEdit>("keyValue")->text().isEmpty());
    QVERIFY(!field<QPushButton>("saveKey")->isEnabled());
}

void ApiKeysTest::aKeyWithBlanksInItIsRefused()
{
    openDialog();
    choose("OPENAI_API_KEY");
    type(QStringLiteral("two words"));
    QVERIFY(!field<QPushButton>("saveKey")->isEnabled());
    QVERIFY(field<QLabel>("keyProblem")->text().contains(QStringLiteral("Copy it again")));
    QTest::keyClick(field<QLineEdit>("keyValue"), Qt::Key_Return);
    QVERIFY(keychain_->key("OPENAI_API_KEY").empty());
}

void ApiKeysTest::withoutAServiceASentenceSaysWhatToDo()
{
    qputenv("OPENAI_API_KEY", "from-environment");
    keychain_->fail(noService());
    openDialog();
    auto* problem = field<QLabel>("keyProblem");
    QTRY_COMPARE(problem->text(),
                 QStringLiteral("No keychain answers here. Start a keychain service, or set the key in "
                                "the environment."));
    QVERIFY(problem->isVisible());
    QTRY_COMPARE(place("OPENAI_API_KEY"), QStringLiteral("environment variable OPENAI_API_KEY"));
    choose("OPENAI_API_KEY");
    type(QStringLiteral("sk-typed"));
    QTest::mouseClick(field<QPushButton>("saveKey"), Qt::LeftButton);
    QTRY_VERIFY(problem->text().startsWith(QStringLiteral("No keychain answers here.")));
    keychain_->fail(std::nullopt);
    type(QStringLiteral("sk-typed"));
    QTest::mouseClick(field<QPushButton>("saveKey"), Qt::LeftButton);
    QTRY_COMPARE(place("OPENAI_API_KEY"), QStringLiteral("keychain"));
    QTRY_VERIFY(!problem->isVisible());
}

void ApiKeysTest::anOldAnswerDoesNotHideWhatWasStoredSince()
{
    keychain_->setSilent(true);
    openDialog();
    keychain_->setSilent(false);
    choose("OPENAI_API_KEY");
    type(QStringLiteral("sk-typed"));
    QTest::mouseClick(field<QPushButton>("saveKey"), Qt::LeftButton);
    QTRY_COMPARE(place("OPENAI_API_KEY"), QStringLiteral("keychain"));
    QCOMPARE(place("ANTHROPIC_API_KEY"), QStringLiteral("looking…"));
    keychain_->failWhatIsUnanswered(noService());
    QTRY_VERIFY(place("ANTHROPIC_API_KEY") != QStringLiteral("looking…"));
    QCOMPARE(place("OPENAI_API_KEY"), QStringLiteral("keychain"));
    QVERIFY(!field<QLabel>("keyProblem")->isVisible());
}

void ApiKeysTest::aSilentKeychainLeavesTheDialogUsable()
{
    keychain_->setSilent(true);
    openDialog();
    QCOMPARE(place("ANTHROPIC_API_KEY"), QStringLiteral("looking…"));
    QTest::keyClick(dialog_.get(), Qt::Key_Escape);
    QVERIFY(!dialog_->isVisible());
}

void ApiKeysTest::theEngineAsksTheKeychainFirstThenTheEnvironment()
{
    const KeySource keys = keysFrom(keychain_);
    QVERIFY(keys("OPENAI_API_KEY").empty());
    qputenv("OPENAI_API_KEY", "from-environment");
    QCOMPARE(keys("OPENAI_API_KEY").reveal(), std::string("from-environment"));
    keychain_->write("OPENAI_API_KEY", Secret("from-keychain"), [](const Result<void>&) {});
    QCOMPARE(keys("OPENAI_API_KEY").reveal(), std::string("from-keychain"));
}

void ApiKeysTest::aKeychainThatFailsIsNotAskedAgainAtOnce()
{
    qputenv("OPENAI_API_KEY", "from-environment");
    keychain_->fail(noService());
    const KeySource keys = keysFrom(keychain_);
    for (int i = 0; i < 3; ++i) {
        QCOMPARE(keys("OPENAI_API_KEY").reveal(), std::string("from-environment"));
    }
    QCOMPARE(keychain_->reads(), 1);
}

void ApiKeysTest::aSilentKeychainIsWaitedForWithinLimits()
{
    qputenv("OPENAI_API_KEY", "from-environment");
    keychain_->setSilent(true);
    QCOMPARE(keysFrom(keychain_, 20ms)("OPENAI_API_KEY").reveal(), std::string("from-environment"));
}

void ApiKeysTest::aKeyOfAnotherNameIsStoredUnderIt()
{
    openDialog();
    QTest::keyClicks(field<QLineEdit>("otherName"), QStringLiteral("MY-SERVER"));
    QVERIFY2(!field<QPushButton>("addName")->isEnabled(), "no variable is called so");
    field<QLineEdit>("otherName")->selectAll();
    QTest::keyClicks(field<QLineEdit>("otherName"), QStringLiteral("MY_SERVER_KEY"));
    QTest::keyClick(field<QLineEdit>("otherName"), Qt::Key_Return);
    QVERIFY(field<QLineEdit>("keyValue")->hasFocus());
    QCOMPARE(place("MY_SERVER_KEY"), QStringLiteral("looking…"));
    type(QStringLiteral("sk-mine"));
    QTest::keyClick(field<QLineEdit>("keyValue"), Qt::Key_Return);
    QTRY_COMPARE(keychain_->key("MY_SERVER_KEY"), std::string("sk-mine"));
    QTRY_COMPARE(place("MY_SERVER_KEY"), QStringLiteral("keychain"));
    dialog_.reset();
    places_ = std::make_unique<KeyPlaces>(keychain_);
    openDialog();
    QTRY_COMPARE(place("MY_SERVER_KEY"), QStringLiteral("keychain"));
}

void ApiKeysTest::aNameThatARunMentionsIsListed()
{
    places_->mention("TEAM_KEY");
    places_->mention("no name");
    places_->mention("OPENAI_API_KEY");
    openDialog();
    QTRY_COMPARE(place("TEAM_KEY"), QStringLiteral("none"));
    QCOMPARE(places_->otherNames(), std::vector<std::string>{"TEAM_KEY"});
    QCOMPARE(KeyPlaces(keychain_).otherNames().size(), std::size_t{0});
}

void ApiKeysTest::aNameWithoutAKeyIsTakenOffTheList()
{
    places_->remember("FIRST_KEY");
    places_->remember("SECOND_KEY");
    keychain_->write("FIRST_KEY", Secret("kept"), [](const Result<void>&) {});
    openDialog();
    choose("FIRST_KEY");
    QTRY_COMPARE(place("FIRST_KEY"), QStringLiteral("keychain"));
    field<QPushButton>("removeKey")->click();
    QTRY_COMPARE(place("FIRST_KEY"), QStringLiteral("none"));
    QVERIFY(keychain_->key("FIRST_KEY").empty());
    field<QPushButton>("removeKey")->click();
    QCOMPARE(places_->otherNames(), std::vector<std::string>{"SECOND_KEY"});
    QCOMPARE(place("SECOND_KEY"), QStringLiteral("none"));
}

void ApiKeysTest::theMenuOpensTheDialog()
{
    MainWindow window(keychain_);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QCOMPARE(keychain_->reads(), 0);
    window.actions().api_keys->trigger();
    auto* dialog = window.findChild<ApiKeysDialog*>(QStringLiteral("apiKeys"));
    QVERIFY(dialog);
    QVERIFY(dialog->isVisible());
}

void ApiKeysTest::newRunLeadsToTheKeysAndSeesThemCome()
{
    auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads");
    QVERIFY(workloads.has_value());
    NodeProbes nodes;
    NewRunDialog run(std::move(*workloads), nodes, *places_);
    run.show();
    QVERIFY(QTest::qWaitForWindowExposed(&run));
    QCOMPARE(keychain_->reads(), 0);
    const auto select = [&run](const char* name, const char* data) {
        auto* box = run.findChild<QComboBox*>(QString::fromLatin1(name));
        box->setCurrentIndex(box->findData(QString::fromLatin1(data)));
    };
    select("proposer", "fastpath");
    select("provider", "anthropic");
    auto* status = run.findChild<QLabel*>(QStringLiteral("keyStatus"));
    QTRY_VERIFY(status->text().contains(QStringLiteral("neither in the keychain nor in the environment")));
    auto* button = run.findChild<QPushButton*>(QStringLiteral("apiKeysButton"));
    QVERIFY(button->isVisible());
    QTest::mouseClick(button, Qt::LeftButton);
    auto* dialog = run.findChild<ApiKeysDialog*>(QStringLiteral("apiKeys"));
    QVERIFY(dialog);
    auto* value = dialog->findChild<QLineEdit*>(QStringLiteral("keyValue"));
    QTest::keyClicks(value, QStringLiteral("sk-typed"));
    QTest::keyClick(value, Qt::Key_Return);
    QTRY_COMPARE(status->text(), QStringLiteral("ANTHROPIC_API_KEY is in the keychain."));
    select("provider", "command");
    QVERIFY(!button->isVisible());
}

void ApiKeysTest::aKeyIsInNoSettingsFile()
{
    openDialog();
    type(QStringLiteral("hush-hush"));
    QTest::keyClick(field<QLineEdit>("keyValue"), Qt::Key_Return);
    QTRY_COMPARE(keychain_->key("ANTHROPIC_API_KEY"), std::string("hush-hush"));
    const QSettings settings;
    for (const QString& key : settings.allKeys()) {
        QVERIFY2(!settings.value(key).toString().contains(QStringLiteral("hush")), qPrintable(key));
    }
}

QTEST_MAIN(ApiKeysTest)
#include "api_keys_test.moc"
