// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/models_form.h"

#include "core/llm/key_source.h"
#include "ui/keys/api_keys_dialog.h"
#include "ui/shell/form_rows.h"
#include "ui/shell/new_run_settings.h"
#include "ui/style/theme.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QSignalBlocker>
#include <QUrl>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr double most_usd = 100'000;

QString settingsKey(const char* name)
{
    return QStringLiteral("newRun/fastPath/") + QLatin1String(name);
}

QLineEdit* makeLine(QWidget* parent, const char* name, const QString& placeholder = {})
{
    auto* line = new QLineEdit(parent);
    line->setObjectName(QString::fromLatin1(name));
    line->setPlaceholderText(placeholder);
    return line;
}

QString trimmed(const QLineEdit* line)
{
    return line->text().trimmed();
}

std::filesystem::path pathOf(const QLineEdit* line)
{
    const QString text = trimmed(line);
    return text.isEmpty()
               ? std::filesystem::path()
               : std::filesystem::path(QDir::cleanPath(QDir::current().absoluteFilePath(text)).toStdString());
}

/// An address may carry a password or a token; such a one is not kept.
bool hasSecretPlaces(const QUrl& url)
{
    return !url.userInfo().isEmpty() || url.hasQuery() || url.hasFragment();
}

}  // namespace

ModelsForm::ModelsForm(QFormLayout* form, QWidget* box, KeyPlaces& keys) : QObject(box), form_(form), keys_(keys)
{
    source_ = makeLine(box, "hostSource", tr("the workload's host.cu"));
    auto* browse_source = new QPushButton(tr("Browse…"), box);
    backend_ = new QComboBox(box);
    backend_->setObjectName(QStringLiteral("backend"));
    backend_->addItem(tr("LSA: loads and stores to peers"), QStringLiteral("lsa"));
    backend_->addItem(tr("GIN: puts through the network card"), QStringLiteral("gin"));
    provider_ = new QComboBox(box);
    provider_->setObjectName(QStringLiteral("provider"));
    provider_->addItem(tr("none: takes the workload's own seed"), QString());
    for (const std::string& name : providerNames()) {
        provider_->addItem(QString::fromStdString(name), QString::fromStdString(name));
    }
    model_ = makeLine(box, "model", tr("its name as the provider spells it"));
    judge_model_ = makeLine(box, "judgeModel", tr("the same"));
    base_url_ = makeLine(box, "baseUrl", tr("the provider's own server"));
    key_name_ = makeLine(box, "keyName");
    key_name_->setToolTip(tr("The name under which the key is kept, not the key"));
    region_ = makeLine(box, "region", tr("AWS_REGION's"));
    command_ = makeLine(box, "command", tr("a program with its arguments"));
    folder_ = makeLine(box, "answers", tr("none: the window asks"));
    recording_ = makeLine(box, "recording", tr("a file of recorded answers"));
    auto* browse_folder = new QPushButton(tr("Browse…"), box);
    auto* browse_recording = new QPushButton(tr("Browse…"), box);
    key_ = new QLabel(box);
    key_->setObjectName(QStringLiteral("keyStatus"));
    key_->setTextFormat(Qt::PlainText);
    key_->setWordWrap(true);
    key_->setForegroundRole(QPalette::PlaceholderText);
    api_keys_ = new QPushButton(tr("API &keys…"), box);
    api_keys_->setObjectName(QStringLiteral("apiKeysButton"));
    budget_ = new QDoubleSpinBox(box);
    budget_->setObjectName(QStringLiteral("budget"));
    budget_->setRange(0, most_usd);
    budget_->setDecimals(2);
    budget_->setPrefix(tr("$ "));
    budget_->setSpecialValueText(tr("no limit"));

    addRow(form_, tr("So&urce"), withButton(source_, browse_source), source_);
    form_->addRow(tr("Bac&kend"), backend_);
    form_->addRow(tr("Pro&vider"), provider_);
    form_->addRow(tr("Mode&l"), model_);
    form_->addRow(tr("&Judge model"), judge_model_);
    form_->addRow(tr("&Base URL"), base_url_);
    form_->addRow(tr("Ke&y name"), key_name_);
    form_->addRow(tr("Reg&ion"), region_);
    form_->addRow(tr("&Program"), command_);
    addRow(form_, tr("Answers &folder"), withButton(folder_, browse_folder), folder_);
    addRow(form_, tr("Re&cording"), withButton(recording_, browse_recording), recording_);
    addRow(form_, QString(), withButton(key_, api_keys_), api_keys_);
    form_->addRow(tr("Bud&get, USD"), budget_);

    restore();
    connect(browse_source, &QPushButton::clicked, this, [this] {
        const QString chosen = QFileDialog::getOpenFileName(provider_->window(), tr("Program to convert"), QString(),
                                                            tr("CUDA sources (*.cu *.cuh)"));
        if (!chosen.isEmpty()) {
            source_->setText(chosen);
        }
    });
    connect(browse_folder, &QPushButton::clicked, this, [this] {
        const QString chosen =
            QFileDialog::getExistingDirectory(provider_->window(), tr("Folder for prompts and answers"));
        if (!chosen.isEmpty()) {
            folder_->setText(chosen);
        }
    });
    connect(browse_recording, &QPushButton::clicked, this, [this] {
        const QString chosen = QFileDialog::getOpenFileName(provider_->window(), tr("Recorded answers"));
        if (!chosen.isEmpty()) {
            recording_->setText(chosen);
        }
    });
    connect(provider_, &QComboBox::currentIndexChanged, this, &ModelsForm::showRows);
    connect(api_keys_, &QPushButton::clicked, this, [this] {
        keys_.mention(trimmed(key_name_).toStdString());
        auto* dialog = new ApiKeysDialog(keys_, provider_->window());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->open();
    });
    connect(&keys_, &KeyPlaces::changed, this, &ModelsForm::update);
    connect(backend_, &QComboBox::currentIndexChanged, this, &ModelsForm::changed);
    connect(budget_, &QDoubleSpinBox::valueChanged, this, &ModelsForm::changed);
    for (QLineEdit* line :
         {source_, model_, judge_model_, base_url_, key_name_, region_, command_, folder_, recording_}) {
        connect(line, &QLineEdit::textChanged, this, &ModelsForm::update);
    }
    showRows();
}

ProviderSettings ModelsForm::provider() const
{
    ProviderSettings settings;
    settings.provider = provider_->currentData().toString().toStdString();
    const auto taken = [](const QLineEdit* line) { return trimmed(line).toStdString(); };
    if (settings.provider.empty()) {
        return settings;
    }
    settings.model = taken(model_);
    if (purpose_ == Purpose::conversion) {
        settings.judge_model = taken(judge_model_);
    }
    if (settings.provider == "anthropic" || settings.provider == "openai") {
        settings.base_url = taken(base_url_);
        settings.key_name = taken(key_name_);
    } else if (settings.provider == "bedrock") {
        settings.region = taken(region_);
    } else if (settings.provider == "command") {
        for (const QString& argument : QProcess::splitCommand(trimmed(command_))) {
            settings.command.push_back(argument.toStdString());
        }
    } else if (settings.provider == "manual") {
        settings.folder = pathOf(folder_);
    } else if (settings.provider == "replay") {
        settings.recording = pathOf(recording_);
    }
    return settings;
}

void ModelsForm::apply(RunConfig& config) const
{
    if (purpose_ == Purpose::none) {
        return;
    }
    if (purpose_ == Purpose::conversion) {
        config.fast_path.backend = backend_->currentData().toString().toStdString();
        config.islands = 1;
        config.children = 1;
        config.generations = config.fast_path.attempts() - 1;
    }
    config.provider = provider();
    const bool costs = !config.provider.provider.empty() && config.provider.provider != "manual" &&
                       config.provider.provider != "replay";
    config.budget_usd = costs ? budget_->value() : 0;
}

QString ModelsForm::sourceFile() const
{
    return trimmed(source_);
}

QString ModelsForm::problem(const Workload* workload) const
{
    if (purpose_ == Purpose::none) {
        return {};
    }
    if (workload && workload->program) {
        return tr("%1 is a whole program, of which models make no candidates. Choose another workload.")
            .arg(QString::fromStdString(workload->name));
    }
    if (purpose_ == Purpose::search && provider_->currentData().toString().isEmpty()) {
        return tr("Choose who writes the candidates, or a search without a model.");
    }
    if (purpose_ == Purpose::conversion && !sourceFile().isEmpty() && !QFileInfo(sourceFile()).isFile()) {
        return tr("The source %1 does not exist. Choose another file, or leave the field empty.")
            .arg(QDir::toNativeSeparators(sourceFile()));
    }
    const ProviderSettings settings = provider();
    if (!settings.folder.empty() && !QFileInfo(trimmed(folder_)).isDir()) {
        return tr("The answers folder %1 does not exist. Choose one that may be written to.")
            .arg(QDir::toNativeSeparators(trimmed(folder_)));
    }
    if (!settings.recording.empty() && !QFileInfo(trimmed(recording_)).isFile()) {
        return tr("The recording %1 does not exist. Choose another file.")
            .arg(QDir::toNativeSeparators(trimmed(recording_)));
    }
    return {};
}

void ModelsForm::setPurpose(Purpose purpose)
{
    purpose_ = purpose;
    provider_->setItemText(0, purpose == Purpose::search ? tr("none yet") : tr("none: takes the workload's own seed"));
    showRows();
}

void ModelsForm::showRows()
{
    const QString name = provider_->currentData().toString();
    const bool shown = purpose_ != Purpose::none, converts = purpose_ == Purpose::conversion;
    const auto is = [&](const char* provider) { return shown && name == QLatin1String(provider); };
    const bool names_models = shown && !name.isEmpty() && !is("manual") && !is("replay");
    const std::pair<QWidget*, bool> rows[] = {
        {source_, converts},
        {backend_, converts},
        {provider_, shown},
        {model_, names_models},
        {judge_model_, names_models && converts},
        {base_url_, is("anthropic") || is("openai")},
        {key_name_, is("anthropic") || is("openai")},
        {region_, is("bedrock")},
        {command_, is("command")},
        {folder_, is("manual")},
        {recording_, is("replay")},
        {key_, shown},
        {budget_, names_models},
    };
    for (const auto& [field, visible] : rows) {
        setRowVisible(form_, field, visible);
    }
    if (const auto usual = keyNames(name.toStdString()); !usual.empty()) {
        key_name_->setPlaceholderText(QString::fromStdString(usual.front().name));
    }
    api_keys_->setVisible(shown && !keyNames(name.toStdString()).empty());
    update();
}

void ModelsForm::update()
{
    // The keychain may ask for a password: it is asked when a key is wanted.
    const bool someone = purpose_ == Purpose::conversion || !provider_->currentData().toString().isEmpty();
    key_->setText(purpose_ != Purpose::none && someone
                      ? answersText(provider(), [this](const std::string& name) { return keys_.of(name); })
                      : QString());
    fitHeight(key_);
    Q_EMIT changed();
}

void ModelsForm::restore()
{
    const QSettings settings;
    const auto choose = [&](QComboBox* box, const char* name) {
        box->setCurrentIndex(std::max(0, box->findData(settings.value(settingsKey(name)).toString())));
    };
    choose(backend_, "backend");
    choose(provider_, "provider");
    for (const auto& [line, name] : {std::pair{model_, "model"},
                                     {judge_model_, "judgeModel"},
                                     {base_url_, "baseUrl"},
                                     {key_name_, "keyName"},
                                     {region_, "region"},
                                     {command_, "program"},
                                     {folder_, "answers"},
                                     {recording_, "recording"}}) {
        line->setText(settings.value(settingsKey(name)).toString());
    }
    budget_->setValue(settings.value(settingsKey("budget"), 5.0).toDouble());
}

void ModelsForm::remember() const
{
    QSettings settings;
    settings.setValue(settingsKey("backend"), backend_->currentData());
    settings.setValue(settingsKey("provider"), provider_->currentData());
    for (const auto& [line, name] : {std::pair{model_, "model"},
                                     {judge_model_, "judgeModel"},
                                     {region_, "region"},
                                     {folder_, "answers"},
                                     {recording_, "recording"}}) {
        settings.setValue(settingsKey(name), trimmed(line));
    }
    // Somebody may take it for the place of the key.
    settings.setValue(settingsKey("keyName"),
                      isKeyName(trimmed(key_name_).toStdString()) ? trimmed(key_name_) : QString());
    const QUrl url(trimmed(base_url_));
    settings.setValue(settingsKey("baseUrl"), hasSecretPlaces(url) ? QString() : trimmed(base_url_));
    // The arguments of a program may have a key among them.
    settings.setValue(settingsKey("program"), QProcess::splitCommand(trimmed(command_)).value(0));
    settings.setValue(settingsKey("budget"), budget_->value());
}

}  // namespace cuco::ui
