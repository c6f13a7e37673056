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
    list_->expandAll();
}

std::string ApiKeysDialog::chosen() const
{
    const QTreeWidgetItem* item = list_->currentItem();
    return item ? item->data(0, name_role).toString().toStdString() : std::string();
}

void ApiKeysDialog::showPlaces()
{
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
    remove_->setEnabled(!name.empty() && places_.of(name) == KeyPlace::keychain);
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
    places_.remove(chosen());
}

}  // namespace cuco::ui
