// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/node_probes.h"
#include "ui/shell/run_list_model.h"
#include "ui_test_support.h"

#include <QDir>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QThreadPool>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

namespace {

constexpr int patience_ms = 60'000;
const auto hosts = QStringLiteral("srun:gpu-a=1,gpu-b=1");

}  // namespace

/// With an srun of the test's own, which notes each time that it is started.
class NodeProbesTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void hostsAreNotAskedBeforeSomebodyWantsThem();
    void hostsThatCannotBeUsedCanBeAskedAgain();
    void aProbeThatIsUnderWayIsNotBegunTwice();
    void aProbeIsStoppedWithItsOwner();

private:
    void writeLauncher(const QByteArray& script) const;
    int launches() const;
    QString stateOfHosts(const NodeProbes& nodes) const;

    PrivateFolder folder_;
};

void NodeProbesTest::initTestCase()
{
    QVERIFY(QDir(folder_.file({})).mkdir(QStringLiteral("bin")));
    qputenv("PATH", folder_.file(QStringLiteral("bin")).toUtf8() + ':' + qgetenv("PATH"));
    qputenv("XDG_CACHE_HOME", folder_.file(QStringLiteral("cache")).toUtf8());
}

void NodeProbesTest::init()
{
    QSettings().setValue(QStringLiteral("nodes/added"), QStringList{hosts});
    QFile::remove(folder_.file(QStringLiteral("launches")));
}

void NodeProbesTest::writeLauncher(const QByteArray& script) const
{
    QFile file(folder_.file(QStringLiteral("bin/srun")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\necho started >> '" + folder_.file(QStringLiteral("launches")).toUtf8() + "'\n" + script);
    file.close();
    QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
}

int NodeProbesTest::launches() const
{
    QFile file(folder_.file(QStringLiteral("launches")));
    return file.open(QIODevice::ReadOnly) ? static_cast<int>(file.readAll().count('\n')) : 0;
}

QString NodeProbesTest::stateOfHosts(const NodeProbes& nodes) const
{
    RunListModel list({}, nodes);
    for (int row = 0; row < list.rowCount(); ++row) {
        if (list.index(row).data().toString() == hosts) {
            return list.index(row).data(RunListModel::detail_role).toString();
        }
    }
    return {};
}

void NodeProbesTest::hostsAreNotAskedBeforeSomebodyWantsThem()
{
    writeLauncher("exit 1\n");
    NodeProbes nodes;
    nodes.start();
    QCOMPARE(stateOfHosts(nodes), QStringLiteral("not asked yet"));
    QSignalSpy changed(&nodes, &NodeProbes::changed);
    nodes.look(hosts);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(stateOfHosts(nodes), QStringLiteral("looking…"));
    QTRY_VERIFY_WITH_TIMEOUT(nodes.find(hosts), patience_ms);
    QCOMPARE(launches(), 1);
    QVERIFY2(stateOfHosts(nodes) != QStringLiteral("looking…"), "the list says for ever that it looks");
    QCOMPARE(stateOfHosts(nodes), NodeProbes::describe(*nodes.find(hosts)));
}

void NodeProbesTest::hostsThatCannotBeUsedCanBeAskedAgain()
{
    writeLauncher("exit 1\n");
    NodeProbes nodes;
    nodes.look(hosts);
    QTRY_VERIFY_WITH_TIMEOUT(nodes.find(hosts), patience_ms);
    QVERIFY(!nodes.find(hosts)->usable);
    nodes.look(hosts);
    QCOMPARE(stateOfHosts(nodes), QStringLiteral("looking…"));
    QVERIFY2(nodes.find(hosts), "what was wrong is known until it is known better");
    QTRY_VERIFY_WITH_TIMEOUT(stateOfHosts(nodes) != QStringLiteral("looking…"), patience_ms);
    QCOMPARE(launches(), 2);
}

void NodeProbesTest::aProbeThatIsUnderWayIsNotBegunTwice()
{
    writeLauncher("exit 1\n");
    NodeProbes nodes;
    nodes.look(hosts);
    nodes.look(hosts);
    QVERIFY(nodes.add(hosts));
    QTRY_VERIFY_WITH_TIMEOUT(nodes.find(hosts), patience_ms);
    QVERIFY(QThreadPool::globalInstance()->waitForDone(patience_ms));
    QCOMPARE(launches(), 1);
}

void NodeProbesTest::aProbeIsStoppedWithItsOwner()
{
    writeLauncher("sleep 600\n");
    {
        NodeProbes nodes;
        nodes.look(hosts);
        QTRY_COMPARE_WITH_TIMEOUT(launches(), 1, patience_ms);
    }
    QVERIFY2(QThreadPool::globalInstance()->waitForDone(20'000), "a program that is quit waits for its threads");
}

QTEST_MAIN(NodeProbesTest)
#include "node_probes_test.moc"
