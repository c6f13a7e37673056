// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/new_run_dialog.h"

#include "ui/shell/form_rows.h"
#include "ui/shell/form_scroll.h"
#include "ui/shell/models_form.h"
#include "ui/shell/new_run_settings.h"
#include "ui/style/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace cuco::ui {

namespace {

const auto several_hosts = QStringLiteral("several_hosts");

constexpr qint64 most_seed_bytes = 4 << 20;  // what KernelSource takes

QSpinBox* makeSpinBox(QWidget* parent, int low, int high, int value, const char* name)
{
    auto* box = new QSpinBox(parent);
    box->setRange(low, high);
    box->setValue(value);
    box->setObjectName(QString::fromLatin1(name));
    return box;
}

}  // namespace

NewRunDialog::NewRunDialog(std::vector<Workload> workloads, NodeProbes& nodes, KeyPlaces& keys, QWidget* parent)
    : QDialog(parent), workloads_(std::move(workloads)), nodes_(nodes), keys_(keys)
{
    setObjectName(QStringLiteral("newRun"));
    setWindowTitle(tr("New run"));
    problem_ = new QLabel(this);
    problem_->setObjectName(QStringLiteral("problem"));
    problem_->setWordWrap(true);
    problem_->setForegroundRole(QPalette::BrightText);
    problem_->setMinimumHeight(2 * problem_->fontMetrics().lineSpacing());
    more_ = new QToolButton(this);
    more_->setText(tr("More settings"));
    more_->setCheckable(true);
    more_->setAutoRaise(true);
    more_->setArrowType(Qt::RightArrow);
    more_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    more_->setFocusPolicy(Qt::StrongFocus);
    auto* buttons = new QDialogButtonBox(this);
    start_ = buttons->addButton(tr("Start run"), QDialogButtonBox::AcceptRole);
    start_->setDefault(true);
    start_->setObjectName(QStringLiteral("start"));
    buttons->addButton(QDialogButtonBox::Cancel)->setAutoDefault(false);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(2 * grid, 2 * grid, 2 * grid, 2 * grid);
    layout->setSpacing(grid);
    layout->setSizeConstraint(QLayout::SetMinimumSize);
    auto* fields = new QWidget(this);
    auto* rows = new QVBoxLayout(fields);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(grid);
    rows->addWidget(makeMain());
    rows->addWidget(more_);
    advanced_ = makeAdvanced();
    advanced_->hide();
    rows->addWidget(advanced_);
    rows->addStretch(1);
    scroll_ = new FormScroll(fields, this);
    layout->addWidget(scroll_, 1);
    layout->addWidget(problem_);
    layout->addWidget(buttons);

    connect(buttons, &QDialogButtonBox::accepted, this, &NewRunDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &NewRunDialog::reject);
    connectFields();
    showNodes();
    proposerChanged();
    workloadChanged();
    fitToRows();
    start_->setFocus();
}

QWidget* NewRunDialog::makeMain()
{
    const RunConfig defaults;
    auto* box = new QWidget(this);
    proposer_ = new QComboBox(box);
    proposer_->setObjectName(QStringLiteral("proposer"));
    proposer_->addItem(tr("Search tunables and strategies (no model)"), QStringLiteral("tunable"));
    proposer_->addItem(tr("Search with models (slow path)"), QStringLiteral("llm"));
    proposer_->addItem(tr("Convert a host-driven program (fast path)"), QStringLiteral("fastpath"));
    proposer_->setCurrentIndex(
        std::max(0, proposer_->findData(QSettings().value(QStringLiteral("newRun/proposer")).toString())));
    workload_ = new QComboBox(box);
    workload_->setObjectName(QStringLiteral("workload"));
    for (const Workload& workload : workloads_) {
        workload_->addItem(QString::fromStdString(workload.title.empty() ? workload.name : workload.title));
    }
    summary_ = new QLabel(box);
    summary_->setTextFormat(Qt::PlainText);
    summary_->setWordWrap(true);
    summary_->setForegroundRole(QPalette::PlaceholderText);
    node_ = new QComboBox(box);
    node_->setObjectName(QStringLiteral("node"));
    ranks_ = new QComboBox(box);
    ranks_->setObjectName(QStringLiteral("ranks"));
    generations_ = makeSpinBox(box, 1, 10'000, defaults.generations, "generations");
    amount_ = new QLabel(box);
    amount_->setForegroundRole(QPalette::PlaceholderText);

    auto* generations_row = new QHBoxLayout;
    generations_row->setSpacing(grid);
    generations_row->addWidget(generations_);
    generations_row->addWidget(amount_, 1);
    auto* form = makeForm(box);
    form->addRow(tr("What it d&oes"), proposer_);
    form->addRow(tr("&Workload"), workload_);
    form->addRow(QString(), summary_);
    form->addRow(tr("&Node"), node_);
    form->addRow(tr("&Ranks"), ranks_);
    addRow(form, tr("&Generations"), generations_row, generations_);
    main_form_ = form;
    models_form_ = new ModelsForm(form, box, keys_);
    path_ = new QLineEdit(box);
    path_->setObjectName(QStringLiteral("path"));
    auto* browse = new QPushButton(tr("Browse…"), box);
    connect(browse, &QPushButton::clicked, this, &NewRunDialog::browseFile);
    addRow(form, tr("Save &as"), withButton(path_, browse), path_);
    path_->setMinimumWidth(least_field_width);
    return box;
}

QWidget* NewRunDialog::makeAdvanced()
{
    const RunConfig defaults;
    auto* box = new QWidget(this);
    islands_ = makeSpinBox(box, 1, 64, defaults.islands, "islands");
    islands_->setToolTip(tr("Populations that evolve apart"));
    children_ = makeSpinBox(box, 1, 64, defaults.children, "children");
    children_->setToolTip(tr("Candidates an island proposes in a generation"));
    seed_ = makeSpinBox(box, 0, std::numeric_limits<int>::max(), static_cast<int>(defaults.seed), "seed");
    seed_->setToolTip(tr("The same number gives the same proposals"));
    workers_ = makeSpinBox(box, 0, 256, defaults.compile_workers, "workers");
    workers_->setSpecialValueText(tr("one a core"));
    check_races_ = new QCheckBox(tr("Check candidates for &races"), box);
    check_races_->setObjectName(QStringLiteral("checkRaces"));
    check_races_->setToolTip(tr("Runs each one on the emulated node first and finds accesses that nothing orders"));
    seed_source_ = new QLineEdit(box);
    seed_source_->setObjectName(QStringLiteral("seedSource"));
    seed_source_->setPlaceholderText(tr("the workload's own"));
    auto* browse = new QPushButton(tr("Browse…"), box);
    connect(browse, &QPushButton::clicked, this, &NewRunDialog::browseSeed);

    auto* form = makeForm(box);
    advanced_form_ = form;
    form->addRow(tr("&Islands"), islands_);
    form->addRow(tr("&Children"), children_);
    form->addRow(tr("Ran&dom seed"), seed_);
    form->addRow(tr("Co&mpilers at once"), workers_);
    form->addRow(QString(), check_races_);
    addRow(form, tr("Seed sourc&e"), withButton(seed_source_, browse), seed_source_);
    return box;
}

void NewRunDialog::connectFields()
{
    connect(workload_, &QComboBox::currentIndexChanged, this, &NewRunDialog::workloadChanged);
    connect(proposer_, &QComboBox::currentIndexChanged, this, &NewRunDialog::proposerChanged);
    connect(models_form_, &ModelsForm::changed, this, [this] {
        check();
        fitToRows();
    });
    connect(node_, &QComboBox::activated, this, &NewRunDialog::nodeChosen);
    for (QComboBox* box : {node_, ranks_}) {
        connect(box, &QComboBox::currentIndexChanged, this, &NewRunDialog::check);
    }
    for (QSpinBox* box : {generations_, islands_, children_, seed_, workers_}) {
        connect(box, &QSpinBox::valueChanged, this, &NewRunDialog::check);
    }
    connect(path_, &QLineEdit::textEdited, this, [this] { path_edited_ = true; });
    connect(path_, &QLineEdit::textChanged, this, &NewRunDialog::check);
    connect(seed_source_, &QLineEdit::textChanged, this, &NewRunDialog::check);
    connect(more_, &QToolButton::toggled, this, [this](bool open) {
        more_->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
        advanced_->setVisible(open);
        fitToRows();
        if (open) {
            scroll_->ensureWidgetVisible(advanced_);
        }
    });
    connect(&nodes_, &NodeProbes::changed, this, &NewRunDialog::showNodes);
}

const Workload* NewRunDialog::workload() const
{
    const int index = workload_->currentIndex();
    return index >= 0 ? &workloads_[static_cast<std::size_t>(index)] : nullptr;
}

bool NewRunDialog::converts() const
{
    return proposer_->currentData().toString() == QStringLiteral("fastpath");
}

void NewRunDialog::proposerChanged()
{
    setRowVisible(main_form_, generations_, !converts());
    for (QWidget* field : std::initializer_list<QWidget*>{islands_, children_, seed_source_}) {
        setRowVisible(advanced_form_, field, !converts());
    }
    const QString proposer = proposer_->currentData().toString();
    models_form_->setPurpose(converts()                          ? ModelsForm::Purpose::conversion
                             : proposer == QStringLiteral("llm") ? ModelsForm::Purpose::search
                                                                 : ModelsForm::Purpose::none);
    check();
    fitToRows();
}

void NewRunDialog::fitToRows()
{
    // Rows that come or go are laid out before the size is asked for, and it is asked for anew.
    main_form_->activate();
    advanced_form_->activate();
    advanced_->parentWidget()->layout()->activate();
    scroll_->updateGeometry();
    layout()->activate();
    const int most = screen()->availableGeometry().height() * 9 / 10;
    resize(std::max(width(), sizeHint().width()), std::min(sizeHint().height(), most));
}

void NewRunDialog::workloadChanged()
{
    const Workload* chosen = workload();
    {
        const QSignalBlocker blocker(ranks_);
        ranks_->clear();
        if (chosen) {
            for (const int ranks : chosen->ranks) {
                ranks_->addItem(QString::number(ranks), ranks);
            }
        }
    }
    summary_->setText(chosen ? QString::fromStdString(chosen->summary) : QString());
    fitHeight(summary_);
    if (chosen && !path_edited_) {
        path_->setText(freeRunPath(runFolder(), QString::fromStdString(chosen->name)));
    }
    check();
}

void NewRunDialog::showNodes()
{
    const QSignalBlocker blocker(node_);
    const QString wanted = chosen_node_.isEmpty() ? nodes_.preferred() : chosen_node_;
    node_->clear();
    for (const NodeProbes::Entry& entry : nodes_.entries()) {
        const QString name = QString::fromStdString(entry.name);
        node_->addItem(tr("%1 – %2").arg(name, nodes_.state(entry)), name);
    }
    node_->addItem(tr("Several hosts…"), several_hosts);
    node_->setCurrentIndex(node_->findData(wanted));
    check();
}

void NewRunDialog::nodeChosen()
{
    if (node_->currentData().toString() == several_hosts) {
        askForHosts();
        return;
    }
    chosen_node_ = node_->currentData().toString();
    nodes_.look(chosen_node_);
}

void NewRunDialog::askForHosts()
{
    // Until hosts are named it is not a node.
    showNodes();
    QInputDialog input(this);
    input.setObjectName(QStringLiteral("severalHosts"));
    input.setWindowTitle(tr("Several hosts"));
    input.setLabelText(tr("mpirun or srun, and the hosts with their GPUs:"));
    input.setTextValue(QStringLiteral("mpirun:gpu-a=4,gpu-b=4"));
    while (input.exec() == QDialog::Accepted) {
        const QString name = input.textValue().trimmed();
        if (const auto added = nodes_.add(name); !added) {
            input.setLabelText(QString::fromStdString(added.error().what + "\n" + added.error().remedy));
            continue;
        }
        chosen_node_ = name;
        showNodes();
        return;
    }
}

RunConfig NewRunDialog::config() const
{
    RunConfig config;
    if (const Workload* chosen = workload()) {
        config.workload = chosen->name;
        config.workload_folder = chosen->folder.string();
    }
    config.node = node_->currentData().toString().toStdString();
    config.proposer = proposer_->currentData().toString().toStdString();
    config.seed_source = seed_text_;
    config.ranks = ranks_->currentData().toInt();
    config.generations = generations_->value();
    config.islands = islands_->value();
    config.children = children_->value();
    config.seed = static_cast<std::uint64_t>(seed_->value());
    config.compile_workers = workers_->value();
    config.check_races = check_races_->isChecked();
    models_form_->apply(config);
    return config;
}

QString NewRunDialog::path() const
{
    return QDir::cleanPath(QDir::fromNativeSeparators(path_->text().trimmed()));
}

void NewRunDialog::check()
{
    if (!advanced_) {
        return;
    }
    const RunConfig wanted = config();
    amount_->setText(tr("%1 candidates in all").arg(wanted.proposals()));
    QString problem = newRunProblem(wanted, workload(), nodes_.find(node_->currentData().toString()),
                                    path_->text().trimmed().isEmpty() ? QString() : path());
    const QString seed_source = converts() ? QString() : seed_source_->text().trimmed();
    if (const QString models = models_form_->problem(workload()); !models.isEmpty()) {
        problem = models;
    }
    if (node_->currentData().toString() == several_hosts) {
        problem = tr("No hosts are named yet. Choose a node, or name the hosts.");
    }
    if (problem.isEmpty() && !seed_source.isEmpty() && !QFileInfo(seed_source).isFile()) {
        problem = tr("The seed source %1 does not exist. Choose another file, or leave the field empty.")
                      .arg(QDir::toNativeSeparators(seed_source));
    }
    problem_->setText(problem);
    start_->setEnabled(problem.isEmpty());
}

void NewRunDialog::browseFile()
{
    const QString chosen = QFileDialog::getSaveFileName(this, tr("Save the run as"), path(), tr("Runs (*.cuco)"),
                                                        nullptr, QFileDialog::DontConfirmOverwrite);
    if (!chosen.isEmpty()) {
        path_edited_ = true;
        path_->setText(chosen.endsWith(QStringLiteral(".cuco")) ? chosen : chosen + QStringLiteral(".cuco"));
    }
}

void NewRunDialog::browseSeed()
{
    const QString chosen =
        QFileDialog::getOpenFileName(this, tr("Seed source"), QString(), tr("CUDA sources (*.cu *.cuh)"));
    if (!chosen.isEmpty()) {
        seed_source_->setText(chosen);
    }
}

void NewRunDialog::accept()
{
    seed_text_.clear();
    const QString name = converts() ? models_form_->sourceFile() : seed_source_->text().trimmed();
    if (!name.isEmpty()) {
        QFile file(name);
        if (!file.open(QIODevice::ReadOnly) || file.size() > most_seed_bytes) {
            problem_->setText(tr("%1 cannot be read, or is larger than 4 MiB. Choose another file.").arg(name));
            return;
        }
        seed_text_ = file.readAll().toStdString();
    }
    const QString folder = QFileInfo(path()).absolutePath();
    if (!QDir().mkpath(folder)) {
        problem_->setText(tr("The folder %1 cannot be made. Choose another one.").arg(folder));
        return;
    }
    QSettings().setValue(QStringLiteral("newRun/folder"), folder);
    QSettings().setValue(QStringLiteral("newRun/proposer"), proposer_->currentData());
    if (proposer_->currentData().toString() != QStringLiteral("tunable")) {
        models_form_->remember();
    }
    QDialog::accept();
}

}  // namespace cuco::ui
