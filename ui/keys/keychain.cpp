// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/keychain.h"

#ifdef CUCO_KEYCHAIN
#include <qt6keychain/keychain.h>
#endif

#include <QCoreApplication>
#include <QObject>
#include <QThread>

#include <utility>

namespace cuco::ui {

namespace {

class NoKeychain final : public Keychain {
public:
    explicit NoKeychain(Error why) : why_(std::move(why)) {}
    void read(const std::string&, std::function<void(Result<Secret>)> done) override { done(std::unexpected(why_)); }
    void write(const std::string&, const Secret&, Stored done) override { done(std::unexpected(why_)); }
    void remove(const std::string&, Stored done) override { done(std::unexpected(why_)); }

private:
    Error why_;
};

QString translated(const char* text)
{
    return QCoreApplication::translate("Keychain", text);
}

#ifdef CUCO_KEYCHAIN

const QString service = QStringLiteral("CUCo Desktop");

Error errorOf(const QKeychain::Job& job, const std::string& name)
{
    const bool denied = job.error() == QKeychain::AccessDenied || job.error() == QKeychain::AccessDeniedByUser;
    const QString what =
        denied ? translated("The keychain did not give access") : translated("No keychain answers here");
    const QString remedy = denied ? translated("Unlock the keychain, or set %1 in the environment.")
                                  : translated(
                                        "Start a keychain service such as GNOME Keyring or KWallet, or set %1 in "
                                        "the environment.");
    return {what.toStdString(), job.errorString().toStdString(),
            remedy.arg(QString::fromStdString(name)).toStdString()};
}

/// Jobs run on a thread of their own: the engine's threads may wait for one while the window waits for them.
class SystemKeychain final : public Keychain {
public:
    SystemKeychain()
    {
        thread_.setObjectName(QStringLiteral("keychain"));
        jobs_.moveToThread(&thread_);
        thread_.start();
    }
    ~SystemKeychain() override
    {
        thread_.quit();
        thread_.wait();
    }

    void read(const std::string& name, std::function<void(Result<Secret>)> done) override
    {
        start<QKeychain::ReadPasswordJob>(
            name, [](auto&) {},
            [name, done = std::move(done)](const QKeychain::ReadPasswordJob& job) {
                if (job.error() == QKeychain::EntryNotFound) {
                    done(Secret());
                } else if (job.error() != QKeychain::NoError) {
                    done(std::unexpected(errorOf(job, name)));
                } else {
                    done(Secret(job.textData().toStdString()));
                }
            });
    }
    void write(const std::string& name, const Secret& secret, Stored done) override
    {
        start<QKeychain::WritePasswordJob>(
            name, [secret](auto& job) { job.setTextData(QString::fromStdString(secret.reveal())); },
            [name, done = std::move(done)](const QKeychain::WritePasswordJob& job) { tell(job, name, done); });
    }
    void remove(const std::string& name, Stored done) override
    {
        start<QKeychain::DeletePasswordJob>(
            name, [](auto&) {},
            [name, done = std::move(done)](const QKeychain::DeletePasswordJob& job) { tell(job, name, done); });
    }

private:
    static void tell(const QKeychain::Job& job, const std::string& name, const Stored& done)
    {
        const bool is_done = job.error() == QKeychain::NoError || job.error() == QKeychain::EntryNotFound;
        done(is_done ? Result<void>() : std::unexpected(errorOf(job, name)));
    }

    template <class Job, class Prepare, class Finish>
    void start(const std::string& name, Prepare prepare, Finish finish)
    {
        QMetaObject::invokeMethod(
            &jobs_,
            [name, prepare = std::move(prepare), finish = std::move(finish)] {
                auto* job = new Job(service);
                job->setKey(QString::fromStdString(name));
                prepare(*job);
                QObject::connect(job, &QKeychain::Job::finished, job, [job, finish] { finish(*job); });
                job->start();
            },
            Qt::QueuedConnection);
    }

    QThread thread_;
    QObject jobs_;
};

#endif

}  // namespace

std::shared_ptr<Keychain> systemKeychain()
{
#ifdef CUCO_KEYCHAIN
    return std::make_shared<SystemKeychain>();
#else
    return noKeychain({translated("This program was built without a keychain (QtKeychain)").toStdString(),
                       {},
                       translated("Set the keys in the environment.").toStdString()});
#endif
}

std::shared_ptr<Keychain> noKeychain(Error why)
{
    return std::make_shared<NoKeychain>(std::move(why));
}

}  // namespace cuco::ui
