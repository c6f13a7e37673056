// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/keychain.h"

#include "ui/keys/keychain_keys.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <unistd.h>
#include <future>

using namespace cuco;
using namespace cuco::ui;

namespace {

const char* const inside = "CUCO_TEST_INSIDE_BUS";
const QString daemon_name = QStringLiteral("gnome-keyring-daemon");

template <class Answer, class Ask>
Answer waitFor(Ask ask)
{
    auto answer = std::make_shared<std::promise<Answer>>();
    auto answered = answer->get_future();
    ask([answer](Answer given) { answer->set_value(std::move(given)); });
    return answered.wait_for(std::chrono::seconds(60)) == std::future_status::ready
               ? answered.get()
               : Answer(failure("The keychain did not answer in time"));
}

}  // namespace

/// The system's keychain against a real Secret Service, on a message bus of its own.
class KeychainTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void withoutAServiceTheErrorNamesTheVariable();
    void aKeyIsKeptFoundAndRemoved();
    void theEngineFindsItFromItsOwnThread();

private:
    void startService();
    Result<Secret> read(const std::string& name)
    {
        return waitFor<Result<Secret>>([&](auto done) { keychain_->read(name, done); });
    }
    Result<void> write(const std::string& name, const std::string& text)
    {
        return waitFor<Result<void>>([&](auto done) { keychain_->write(name, Secret(text), done); });
    }
    Result<void> remove(const std::string& name)
    {
        return waitFor<Result<void>>([&](auto done) { keychain_->remove(name, done); });
    }

    QTemporaryDir home_;
    QProcess service_;
    std::shared_ptr<Keychain> keychain_;
};

void KeychainTest::initTestCase()
{
#ifndef CUCO_KEYCHAIN
    QSKIP("This build has no QtKeychain (Debian: qtkeychain-qt6-dev).");
#endif
    if (!qEnvironmentVariableIsSet(inside)) {
        QSKIP("dbus-run-session or gnome-keyring-daemon is not installed (Debian: dbus-daemon, gnome-keyring).");
    }
    keychain_ = systemKeychain();
}

void KeychainTest::cleanupTestCase()
{
    keychain_.reset();
    if (service_.state() != QProcess::NotRunning) {
        service_.terminate();
        service_.waitForFinished();
    }
}

void KeychainTest::startService()
{
    if (service_.state() != QProcess::NotRunning) {
        return;
    }
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("HOME"), home_.path());
    environment.insert(QStringLiteral("XDG_DATA_HOME"), home_.filePath(QStringLiteral("data")));
    environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), home_.path());
    service_.setProcessEnvironment(environment);
    service_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    service_.start(daemon_name,
                   {QStringLiteral("--foreground"), QStringLiteral("--unlock"), QStringLiteral("--components=secrets"),
                    QStringLiteral("--control-directory"), home_.filePath(QStringLiteral("control"))});
    QVERIFY(service_.waitForStarted());
    service_.write("password of the test's keyring\n");
    service_.closeWriteChannel();
    QTRY_VERIFY_WITH_TIMEOUT(read("CUCO_TEST_READY").has_value(), 60'000);
}

void KeychainTest::withoutAServiceTheErrorNamesTheVariable()
{
    const auto none = read("OPENAI_API_KEY");
    QVERIFY(!none.has_value());
    QVERIFY2(none.error().remedy.find("OPENAI_API_KEY in the environment") != std::string::npos,
             describe(none.error()).c_str());
    QVERIFY(!write("OPENAI_API_KEY", "sk").has_value());
}

void KeychainTest::aKeyIsKeptFoundAndRemoved()
{
    startService();
    QVERIFY(read("OPENAI_API_KEY").value().empty());
    const auto written = write("OPENAI_API_KEY", "sk-kept");
    QVERIFY2(written.has_value(), written ? "" : describe(written.error()).c_str());
    QCOMPARE(read("OPENAI_API_KEY").value().reveal(), std::string("sk-kept"));
    QVERIFY(write("OPENAI_API_KEY", "sk-another").has_value());
    QCOMPARE(read("OPENAI_API_KEY").value().reveal(), std::string("sk-another"));
    QVERIFY(remove("OPENAI_API_KEY").has_value());
    QVERIFY(read("OPENAI_API_KEY").value().empty());
    QVERIFY(remove("OPENAI_API_KEY").has_value());
}

void KeychainTest::theEngineFindsItFromItsOwnThread()
{
    startService();
    QVERIFY(write("AWS_SESSION_TOKEN", "temporary").has_value());
    // The GUI thread is blocked meanwhile, as it is when a run is closed.
    auto found = std::async(std::launch::async, [keys = keysFrom(keychain_)] { return keys("AWS_SESSION_TOKEN"); });
    QVERIFY(found.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    QCOMPARE(found.get().reveal(), std::string("temporary"));
}

int main(int argc, char** argv)
{
    // A bus of its own that outlives the test: GIO ends a process whose bus goes.
    const QByteArray session = QStandardPaths::findExecutable(QStringLiteral("dbus-run-session")).toLocal8Bit();
    if (!qEnvironmentVariableIsSet(inside) && !session.isEmpty() &&
        !QStandardPaths::findExecutable(daemon_name).isEmpty()) {
        qputenv(inside, "1");
        std::vector<char*> command;
        QByteArray arguments[] = {session, "--config-file", CUCO_TEST_ROOT "/tests/support/session_bus.conf", "--"};
        for (QByteArray& argument : arguments) {
            command.push_back(argument.data());
        }
        command.insert(command.end(), argv, argv + argc);
        command.push_back(nullptr);
        execv(session.constData(), command.data());
    }
    QCoreApplication app(argc, argv);
    KeychainTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "keychain_test.moc"
