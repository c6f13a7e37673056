// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/api_keys_dialog.h"

#include "core/llm/key_source.h"
#include "core/llm/provider_settings.h"
#include "ui/shell/error_text.h"
#include "ui/style/theme.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr int name_role = Qt::UserRole;
constexpr int longest_key = 8192;

QString titleOf(const std::string& provider)
{
    return provider == "anthropic" ? QStringLiteral("Anthropic")
           : provider == "openai"  ? QStringLiteral("OpenAI")
           : provider == "bedrock" ? QStringLiteral("Amazon Bedrock")
                                   : QString::fromStdString(provider);
}

}  // namespace

QString placeText(KeyPlace place, const std::string& name)
{
    switch (place) {
        case KeyPlace::looking:
            return ApiKeysDialog::tr("looking…");
        case KeyPlace::keychain:
            return ApiKeysDialog::tr("keychain");
        case KeyPlace::environment:
            return ApiKeysDialog::tr("environment variable %1").arg(QString::fromStdString(name));
        case KeyPlace::none:
            break;
    }
    return ApiKeysDialog::tr("none");
}

ApiKeysDialog::ApiKeysDialog(KeyPlaces& places, QWidget* parent) : QDialog(parent), places_(places)
{
    setObjectName(QStringLiteral("apiKeys"));
    setWindowTitle(tr("API keys"));
    resize(72 * grid, 52 * grid);
    makeList();
    label_ = new QLabel(this);
    label_->setObjectName(QStringLiteral("keyLabel"));
    label_->setTextFormat(Qt::PlainText);
    label_->setWordWrap(true);
    value_ = new QLineEdit(this);
    value_->setObjectName(QStringLiteral("keyValue"));
    value_->setEchoMode(QLineEdit::Password);
    value_->setMaxLength(longest_key);
    value_->setPlaceholderText(tr("a new key; one that is stored is never shown"));
    label_->setBuddy(value_);
    save_ = new QPushButton(tr("&Save in keychain"), this);
    save_->setObjectName(QStringLiteral("saveKey"));
    remove_ = new QPushButton(tr("&Remove"), this);
    remove_->setObjectName(QStringLiteral("removeKey"));
    remove_->setToolTip(tr("Removes the key from the keychain"));
    for (QPushButton* button : {save_, remove_}) {
        button->setAutoDefault(false);
    }
    problem_ = new QLabel(this);
    problem_->setObjectName(QStringLiteral("keyProblem"));
    problem_->setTextFormat(Qt::PlainText);
    problem_->setWordWrap(true);
    problem_->setForegroundRole(QPalette::BrightText);
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* note =
        new QLabel(tr("The keychain is asked first, then the environment. Keys are in no file of this program."), this);
    note->setWordWrap(true);
    note->setForegroundRole(QPalette::PlaceholderText);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);

    auto* entry = new QHBoxLayout;
    entry->setSpacing(grid);
    entry->addWidget(value_, 1);
    entry->addWidget(save_);
    entry->addWidget(remove_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * grid, 2 * grid, 2 * grid, 2 * grid);
    layout->setSpacing(grid);
    layout->addWidget(list_, 1);
    layout->addLayout(makeNameRow());
    layout->addWidget(label_);
    layout->addLayout(entry);
    layout->addWidget(problem_);
    layout->addWidget(note);
    layout->addWidget(buttons);

    connect(list_, &QTreeWidget::currentItemChanged, this, &ApiKeysDialog::showChosen);
    connect(value_, &QLineEdit::textChanged, this, &ApiKeysDialog::check);
    connect(value_, &QLineEdit::returnPressed, this, &ApiKeysDialog::save);
    connect(save_, &QPushButton::clicked, this, &ApiKeysDialog::save);
    connect(remove_, &QPushButton::clicked, this, &ApiKeysDialog::remove);
    connect(&places_, &KeyPlaces::changed, this, &ApiKeysDialog::showPlaces);
    connect(buttons, &QDialogButtonBox::rejected, this, &ApiKeysDialog::reject);
    places_.lookAgain();
    showPlaces();
    list_->setCurrentItem(list_->topLevelItem(0)->child(0));
    list_->setFocus();
}

void ApiKeysDialog::makeList()
{
    list_ = new QTreeWidget(this);
    list_->setObjectName(QStringLiteral("keys"));
    list_->setColumnCount(2);
    list_->setHeaderLabels({tr("Key"), tr("Found in")});
    list_->setRootIsDecorated(false);
    list_->setItemsExpandable(false);
    list_->setUniformRowHeights(true);
    list_->setAccessibleName(tr("Keys of providers"));
    list_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    list_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    for (const std::string& provider : providerNames()) {
        const std::vector<KeyName> keys = keyNames(provider);
        if (keys.empty()) {
            continue;
        }
        auto* heading = new QTreeWidgetItem(list_, {titleOf(provider)});
        heading->setFlags(Qt::ItemIsEnabled);
        heading->setFirstColumnSpanned(true);
        heading->setFont(0, textFont(0, QFont::DemiBold));
        for (const KeyName& key : keys) {
            auto* item = new QTreeWidgetItem(heading, {QString::fromStdString(key.label)});
            item->setData(0, name_role, QString::fromStdString(key.name));
            item->setToolTip(0, QString::fromStdString(key.name));
        }
    }
    others_ = new QTreeWidgetItem(list_, {tr("Other names")});
    others_->setFlags(Qt::ItemIsEnabled);
    others_->setFirstColumnSpanned(true);
    others_->setFont(0, textFont(0, QFont::DemiBold));
    listOtherNames();
    list_->expandAll();
}

QLayout* ApiKeysDialog::makeNameRow()
{
    name_ = new QLineEdit(this);
    name_->setObjectName(QStringLiteral("otherName"));
    name_->setMaxLength(128);
    name_->setPlaceholderText(tr("the name of another key, such as MY_SERVER_KEY"));
    name_->setAccessibleName(tr("Name of another key"));
    name_->setToolTip(tr("For a server of your own whose runs name their key so"));
    add_name_ = new QPushButton(tr("A&dd name"), this);
    add_name_->setObjectName(QStringLiteral("addName"));
    add_name_->setAutoDefault(false);
    add_name_->setEnabled(false);
    connect(name_, &QLineEdit::textChanged, this,
            [this](const QString& text) { add_name_->setEnabled(isKeyName(text.trimmed().toStdString())); });
    connect(name_, &QLineEdit::returnPressed, this, &ApiKeysDialog::addName);
    connect(add_name_, &QPushButton::clicked, this, &ApiKeysDialog::addName);
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    row->addWidget(name_, 1);
    row->addWidget(add_name_);
    return row;
}

void ApiKeysDialog::listOtherNames()
{
    const std::vector<std::string>& names = places_.otherNames();
    for (int row = others_->childCount() - 1; row >= 0; --row) {
        if (std::ranges::find(names, others_->child(row)->data(0, name_role).toString().toStdString()) == names.end()) {
            delete others_->takeChild(row);
        }
    }
    for (std::size_t row = 0; row < names.size(); ++row) {
        if (static_cast<int>(row) < others_->childCount()) {
            continue;  // those that are there keep their order
        }
        const QString name = QString::fromStdString(names[row]);
        auto* item = new QTreeWidgetItem(others_, {name});
        item->setData(0, name_role, name);
    }
    others_->setHidden(names.empty());
}

void ApiKeysDialog::addName()
{
    if (!add_name_->isEnabled()) {
        return;
    }
    const QString name = name_->text().trimmed();
    name_->clear();
    places_.remember(name.toStdString());
    listOtherNames();
    for (QTreeWidgetItemIterator item(list_); *item; ++item) {
        if ((*item)->data(0, name_role).toString() == name) {
            list_->setCurrentItem(*item);
            value_->setFocus();
            return;
        }
    }
}

std::string ApiKeysDialog::chosen() const
{
    const QTreeWidgetItem* item = list_->currentItem();
    return item ? item->data(0, name_role).toString().toStdString() : std::string();
}

void ApiKeysDialog::showPlaces()
{
    listOtherNames();
    for (QTreeWidgetItemIterator item(list_); *item; ++item) {
        const std::string name = (*item)->data(0, name_role).toString().toStdString();
        if (!name.empty()) {
            const QString text = placeText(places_.of(name), name);
            (*item)->setText(1, text);
            (*item)->setToolTip(1, text);
        }
    }
    check();
}

void ApiKeysDialog::showChosen()
{
    // What was typed for one key must not go to another.
    value_->clear();
    label_->setText(chosen().empty() ? tr("Choose a key above.")
                                     : tr("New value of %1").arg(QString::fromStdString(chosen())));
    check();
}

void ApiKeysDialog::check()
{
    const std::string name = chosen();
    const QString typed = value_->text().trimmed();
    const bool fits = Secret(typed.toStdString()).fitsHeader();
    value_->setEnabled(!name.empty());
    save_->setEnabled(!name.empty() && !typed.isEmpty() && fits);
    const bool has_key = !name.empty() && places_.of(name) == KeyPlace::keychain;
    const bool is_other = std::ranges::find(places_.otherNames(), name) != places_.otherNames().end();
    remove_->setEnabled(has_key || is_other);
    remove_->setToolTip(has_key || !is_other ? tr("Removes the key from the keychain")
                                             : tr("Takes the name off this list"));
    problem_->setText(!fits ? tr("A key has neither blanks nor characters beyond ASCII in it. Copy it again.")
                      : places_.problem() ? sentence(*places_.problem())
                                          : QString());
    problem_->setToolTip(places_.problem() ? QString::fromStdString(places_.problem()->where).toHtmlEscaped()
                                           : QString());
    problem_->setVisible(!problem_->text().isEmpty());
}

void ApiKeysDialog::save()
{
    if (!save_->isEnabled()) {
        return;
    }
    const Secret key(value_->text().trimmed().toStdString());
    value_->clear();
    places_.set(chosen(), key);
}

void ApiKeysDialog::remove()
{
    if (const std::string name = chosen(); places_.of(name) == KeyPlace::keychain) {
        places_.remove(name);
    } else {
        places_.forget(name);
    }
}

}  // namespace cuco::ui
