// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/new_run_settings.h"

#include "core/llm/key_source.h"
#include "ui/shell/error_text.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>

namespace cuco::ui {

namespace {

QString translated(const char* text)
{
    return QCoreApplication::translate("NewRun", text);
}

/// The folder or the nearest one above it that exists can be written to.
bool canHold(const QString& folder)
{
    QFileInfo nearest(folder);
    while (!nearest.exists() && !nearest.isRoot()) {
        nearest.setFile(nearest.absolutePath());
    }
    return nearest.isDir() && nearest.isWritable();
}

QString pathProblem(const QString& path)
{
    if (path.isEmpty()) {
        return translated("Choose where to save the run.");
    }
    const QFileInfo file(path);
    if (file.isRelative()) {
        return translated("Give the whole path of the file, beginning with /.");
    }
    if (file.suffix() != QStringLiteral("cuco")) {
        return translated("The file's name must end in .cuco.");
    }
    if (file.exists()) {
        return translated("%1 exists already. Choose another name.").arg(file.fileName());
    }
    if (!canHold(file.absolutePath())) {
        return translated("Files cannot be written to %1. Choose another folder.")
            .arg(QDir::toNativeSeparators(file.absolutePath()));
    }
    return {};
}

}  // namespace

QString runFolder()
{
    const QString last = QSettings().value(QStringLiteral("newRun/folder")).toString();
    if (!last.isEmpty() && QFileInfo(last).isDir()) {
        return last;
    }
    return QDir(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)).filePath(QStringLiteral("CUCo"));
}

QString freeRunPath(const QString& folder, const QString& name)
{
    const QDir directory(folder);
    QString path = directory.filePath(name + QStringLiteral(".cuco"));
    for (int number = 2; QFileInfo::exists(path); ++number) {
        path = directory.filePath(QStringLiteral("%1-%2.cuco").arg(name).arg(number));
    }
    return path;
}

namespace {

/// Those that the provider's calls will be signed with.
std::vector<std::string> neededKeys(const ProviderSettings& provider,
                                    const std::function<bool(const std::string&)>& is_there)
{
    if (!provider.key_name.empty()) {
        return {provider.key_name};
    }
    std::vector<std::string> needed;
    for (const KeyName& key : keyNames(provider.provider)) {
        // One that stands in place of the others is enough.
        if (key.name == "AWS_BEARER_TOKEN_BEDROCK" && is_there(key.name)) {
            return {key.name};
        }
        if (key.required) {
            needed.push_back(key.name);
        }
    }
    return needed;
}

}  // namespace

QString answersText(const ProviderSettings& provider, const std::function<KeyPlace(const std::string&)>& place)
{
    const std::string& name = provider.provider;
    if (name.empty()) {
        return translated("No model is asked. The result is the workload's own seed.");
    }
    if (name == "command") {
        return translated("The program runs with your rights, outside the sandbox.");
    }
    if (name == "manual") {
        return provider.folder.empty()
                   ? translated("The window shows each prompt and waits for your answer, up to a day.")
                   : translated("Each prompt is written to the folder and its answer awaited there, up to a day.");
    }
    if (name == "replay") {
        return translated("The answers of an earlier run are given again. No model is asked.");
    }
    const auto is_there = [&](const std::string& key) {
        return place(key) == KeyPlace::keychain || place(key) == KeyPlace::environment;
    };
    QStringList kept, set;
    for (const std::string& key : neededKeys(provider, is_there)) {
        const QString shown = QString::fromStdString(key);
        switch (place(key)) {
            case KeyPlace::looking:
                return translated("Looking for %1 in the keychain…").arg(shown);
            case KeyPlace::none:
                return (provider.base_url.empty()
                            ? translated("%1 is neither in the keychain nor in the environment: the run will pause.")
                            : translated("%1 is neither in the keychain nor in the environment: the server is asked "
                                         "without a key."))
                    .arg(shown);
            case KeyPlace::keychain:
                kept << shown;
                break;
            case KeyPlace::environment:
                set << shown;
                break;
        }
    }
    const auto said = [](const QStringList& names, const char* one, const char* more) {
        return names.isEmpty() ? QString()
                               : translated(names.size() == 1 ? one : more).arg(names.join(translated(" and ")));
    };
    return (said(kept, "%1 is in the keychain.", "%1 are in the keychain.") + QLatin1Char(' ') +
            said(set, "%1 is set in the environment.", "%1 are set in the environment."))
        .trimmed();
}

QString newRunProblem(const RunConfig& config, const Workload* workload, const NodeProbe* probe, const QString& path)
{
    if (!workload) {
        return translated("There is no workload to run. Install the product's workloads folder.");
    }
    if (probe && !probe->usable) {
        QString problem = translated("The node %1 cannot be used.").arg(QString::fromStdString(config.node));
        if (!probe->problems.empty()) {
            problem = sentence(probe->problems.front());
        }
        return problem;
    }
    if (probe && probe->max_ranks > 0 && config.ranks > probe->max_ranks) {
        return translated("The node %1 has room for %2 ranks. Choose fewer.")
            .arg(QString::fromStdString(config.node))
            .arg(probe->max_ranks);
    }
    if (const auto valid = validate(config); !valid) {
        return sentence(valid.error());
    }
    return pathProblem(path);
}

}  // namespace cuco::ui
