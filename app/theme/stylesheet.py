"""The style sheet of the whole window, made from the tokens.

Widgets say what they are with the property `kind`; no rule names a single widget's place.
"""

from __future__ import annotations

import re

from app.theme.tokens import RADIUS_CARD, RADIUS_FIELD, TEXT_LIST, TEXT_PROSE, TEXT_SMALL, Tokens


def stylesheet(t: Tokens, text_percent: int = 100) -> str:
    """All rules, for the scheme `t`, with texts in per cent of their size."""
    rules = _rules(t)
    if text_percent == 100:
        return rules
    return _SIZE.sub(lambda size: f"font-size: {round(int(size[1]) * text_percent / 100)}px", rules)


_SIZE = re.compile(r"font-size: (\d+)px")


def _rules(t: Tokens) -> str:
    c = t.css
    return f"""
QMainWindow, QFrame[kind="ground"] {{ background: {c("ground")}; border: none; }}
QFrame[kind="panel"] {{ background: {c("panel")}; border: none; }}
QLabel {{ background: transparent; color: {c("text")}; }}
QLabel[kind="second"] {{ color: {c("text_second")}; }}
QLabel[kind="small"] {{ color: {c("text_second")}; font-size: {TEXT_SMALL}px; }}
QLabel[kind="section"] {{ color: {c("text_second")}; font-size: 11px; font-weight: 600; }}
QLabel[kind="title"] {{ font-size: {TEXT_PROSE}px; font-weight: 600; }}
QLabel[kind="heading"] {{ font-size: 18px; font-weight: 600; }}
QLabel[kind="code"] {{
    background: {c("code_ground")}; border-radius: {RADIUS_FIELD}px; padding: 8px 10px;
}}
QFrame[kind="card"] {{
    background: {c("raised")}; border: 1px solid {c("hairline")}; border-radius: {RADIUS_CARD}px;
}}
QFrame[kind="waiting-card"] {{
    background: {c("raised")}; border: 1px solid {c("waiting")}; border-radius: {RADIUS_CARD}px;
}}
QFrame[kind="waiting-card"]:focus {{ border: 2px solid {c("accent")}; }}
QFrame[kind="failed-card"] {{
    background: {c("raised")}; border: 1px solid {c("failed")}; border-radius: {RADIUS_CARD}px;
}}
QFrame[kind="chip"] {{
    background: transparent; border: 1px solid {c("hairline")}; border-radius: 13px;
}}
QToolButton[kind="floating"] {{
    background: {c("raised")}; border: 1px solid {c("line_strong")}; border-radius: 17px;
}}
QFrame[kind="popover"] {{
    background: {c("raised")}; border: 1px solid {c("line_strong")}; border-radius: 12px;
}}
QLabel[kind="caption"] {{ color: {c("text")}; font-size: {TEXT_SMALL}px; font-weight: 600; }}
QLabel[kind="form-section"] {{
    color: {c("text_second")}; font-size: 11px; font-weight: 600;
    border-top: 1px solid {c("hairline")}; margin-top: 8px; padding-top: 12px;
}}
QLabel[kind="wrong"] {{ color: {c("text")}; font-size: {TEXT_SMALL}px; }}
QFrame[kind="schema-row"] {{
    background: {c("code_ground")}; border: none; border-radius: {RADIUS_FIELD}px;
}}
QPushButton[kind="line-button"] {{
    background: transparent; border: 1px solid transparent; border-radius: {RADIUS_CARD}px;
    padding: 0; max-height: 400px; text-align: left;
}}
QPushButton[kind="line-button"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="line-button"]:focus {{ border: 1px solid {c("accent")}; }}
QLabel[kind="tag"] {{
    color: {c("text_second")}; font-size: 11px; border: 1px solid {c("line_strong")};
    border-radius: 8px; padding: 0 6px;
}}
QListWidget[kind="pages"] {{ outline: none; background: transparent; }}
QListWidget[kind="pages"]::item {{
    padding: 6px 10px; margin: 1px 0; border: 1px solid transparent;
    border-radius: {RADIUS_FIELD}px; color: {c("text")};
}}
QListWidget[kind="pages"]::item:hover {{ background: {c("hover")}; }}
QListWidget[kind="pages"]::item:selected {{ background: {c("selected")}; color: {c("text")}; }}
QListWidget[kind="pages"]::item:focus {{ border: 1px solid {c("accent")}; }}
QListView[kind="offers"] {{ background: transparent; border: none; outline: none; }}
QListView[kind="offers"]::item {{
    color: {c("text")}; border-radius: 6px; padding: 0 8px; height: 28px;
}}
QListView[kind="offers"]::item:hover {{ background: {c("hover")}; }}
QListView[kind="offers"]::item:selected {{ background: {c("selected")}; }}
QListView[kind="models"] {{
    background: {c("code_ground")}; border-radius: {RADIUS_FIELD}px; padding: 2px; outline: none;
}}
QListView[kind="models"]::item {{
    height: 26px; padding: 0 6px; border-radius: 6px; color: {c("text")};
}}
QListView[kind="models"]::item:hover {{ background: {c("hover")}; }}
QListView[kind="models"]::item:selected {{ background: {c("selected")}; }}
QListView[kind="models"]::item:disabled {{ color: {c("text_second")}; }}
QListView::indicator {{
    width: 12px; height: 12px; border-radius: 4px; border: 1px solid {c("text_second")};
    background: {c("raised")};
}}
QListView::indicator:checked {{ background: {c("accent")}; border-color: {c("accent")}; }}
QProgressBar {{ background: {c("selected")}; border: none; border-radius: 2px; }}
QProgressBar::chunk {{ background: {c("running")}; border-radius: 2px; }}
QFrame[kind="line"] {{ background: {c("hairline")}; border: none; }}

QPushButton {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    border-radius: 14px; padding: 0 14px; min-height: 26px; max-height: 26px;
}}
QPushButton:hover {{ background: {c("hover")}; }}
QPushButton:pressed {{ background: {c("selected")}; }}
QPushButton:focus {{ border: 1px solid {c("accent")}; }}
QPushButton:disabled {{ color: {c("text_second")}; border-color: {c("hairline")}; }}
QPushButton[kind="primary"] {{
    background: {c("accent")}; color: {c("on_accent")}; border: 1px solid {c("accent")};
    font-weight: 600;
}}
QPushButton[kind="primary"]:hover {{ background: {c("accent_hover")}; }}
QPushButton[kind="primary"]:focus {{ border: 1px solid {c("text")}; }}
QPushButton[kind="primary"]:disabled {{
    background: {c("selected")}; color: {c("text_second")}; border-color: transparent;
}}
QPushButton[kind="send"] {{
    background: {c("accent")}; border: 1px solid {c("accent")}; border-radius: 15px; padding: 0;
    min-width: 28px; max-width: 28px; min-height: 28px; max-height: 28px;
}}
QPushButton[kind="send"]:hover {{ background: {c("accent_hover")}; }}
QPushButton[kind="send"]:focus {{ border: 1px solid {c("text")}; }}
QPushButton[kind="send"]:disabled {{ background: {c("selected")}; border-color: transparent; }}
QPushButton[kind="chip"] {{
    background: transparent; border: 1px solid {c("hairline")}; border-radius: 12px;
    padding: 0 10px; min-height: 22px; max-height: 22px; color: {c("text_second")};
    font-size: {TEXT_SMALL}px;
}}
QPushButton[kind="chip"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="chip"]:checked {{
    background: {c("selected")}; color: {c("text")}; border-color: transparent;
}}
QPushButton[kind="chip"]:focus {{ border: 1px solid {c("accent")}; }}
QPushButton[kind="waiting"] {{
    background: transparent; border: 1px solid {c("waiting")}; border-radius: 14px;
    padding: 0 12px;
}}
QPushButton[kind="waiting"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="tab"] {{
    background: transparent; border: none; border-radius: {RADIUS_FIELD}px; padding: 0 10px;
    color: {c("text_second")};
}}
QPushButton[kind="tab"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="tab"]:checked {{ color: {c("text")}; background: {c("selected")}; }}
QPushButton[kind="tab"]:focus {{ border: 1px solid {c("accent")}; }}
QPushButton[kind="row"] {{
    background: transparent; border: 1px solid transparent; border-radius: {RADIUS_FIELD}px;
    padding: 0 8px; min-height: 28px; max-height: 28px; text-align: left;
}}
QPushButton[kind="row"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="row"]:checked {{ background: {c("selected")}; }}
QPushButton[kind="row"]:focus {{ border: 1px solid {c("accent")}; }}
QPushButton[kind="problem"] {{
    background: transparent; border: 1px solid {c("failed")}; border-radius: {RADIUS_FIELD}px;
    padding: 0; max-height: 400px; text-align: left;
}}
QPushButton[kind="problem"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="problem"]:focus {{ border: 1px solid {c("accent")}; }}
QPushButton[kind="level"] {{
    background: transparent; border: 1px solid transparent; border-radius: {RADIUS_FIELD}px;
    padding: 0 2px; min-width: 44px; color: {c("text_second")}; font-size: {TEXT_SMALL}px;
}}
QPushButton[kind="level"]:hover {{ background: {c("hover")}; }}
QPushButton[kind="level"]:focus {{ border: 1px solid {c("accent")}; }}
QToolButton {{
    background: transparent; border: 1px solid transparent; border-radius: {RADIUS_FIELD}px;
    min-width: 26px; min-height: 26px; color: {c("text")};
}}
QToolButton:hover {{ background: {c("hover")}; }}
QToolButton:pressed, QToolButton:checked {{ background: {c("selected")}; }}
QToolButton:focus {{ border: 1px solid {c("accent")}; }}
QToolButton[kind="tab-close"] {{ min-width: 16px; min-height: 16px; border: none; }}
QTabBar {{ background: transparent; border: none; }}
QTabBar::tab {{
    background: transparent; color: {c("text_second")}; border: 1px solid transparent;
    border-radius: {RADIUS_FIELD}px; padding: 0 2px 0 10px; margin: 3px 2px 3px 0;
}}
QTabBar::tab:hover {{ background: {c("hover")}; }}
QTabBar::tab:selected {{ background: {c("selected")}; color: {c("text")}; }}
QTabBar::scroller, QTabBar::tear {{ width: 0; }}
QToolButton::menu-indicator {{ image: none; }}

QLineEdit {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    border-radius: {RADIUS_FIELD}px; padding: 4px 8px; min-height: 18px;
    selection-background-color: {c("accent")}; selection-color: {c("on_accent")};
}}
QLineEdit[kind="inline"] {{ padding: 0 5px; min-height: 22px; }}
QLineEdit:focus {{ border: 1px solid {c("accent")}; }}
QLineEdit:disabled {{ color: {c("text_second")}; background: transparent; }}
QSpinBox {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    border-radius: {RADIUS_FIELD}px; padding: 4px 8px; min-height: 18px;
    selection-background-color: {c("accent")}; selection-color: {c("on_accent")};
}}
QSpinBox:focus {{ border: 1px solid {c("accent")}; }}
QSpinBox:disabled {{ color: {c("text_second")}; background: transparent; }}
QSpinBox::up-button, QSpinBox::down-button {{ width: 0; border: none; }}
QComboBox {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    border-radius: {RADIUS_FIELD}px; padding: 4px 24px 4px 8px; min-height: 18px;
}}
QComboBox:focus, QComboBox:on {{ border: 1px solid {c("accent")}; }}
QComboBox:disabled {{ color: {c("text_second")}; background: transparent; }}
QComboBox[writable="true"] {{ padding: 0 24px 0 0; min-height: 26px; }}
QComboBox QLineEdit {{ border: none; background: transparent; padding: 0; }}
QComboBox::drop-down {{ border: none; width: 26px; }}
QComboBox::down-arrow {{ image: none; }}
QComboBox QAbstractItemView {{
    background: {c("raised")}; color: {c("text")}; border: none; padding: 4px; outline: none;
    selection-background-color: {c("selected")}; selection-color: {c("text")};
}}
QComboBox QAbstractItemView::item {{
    min-height: 24px; padding: 0 6px; border: none; border-radius: 6px; color: {c("text")};
}}
QComboBox QAbstractItemView::item:selected {{ background: {c("selected")}; }}
QLineEdit[wrong="true"], QComboBox[wrong="true"], QPlainTextEdit[wrong="true"] {{
    border: 1px solid {c("failed")};
}}
QFrame[kind="composer"] {{
    background: {c("raised")}; border: 1px solid {c("line_strong")};
    border-radius: {RADIUS_CARD}px;
}}
QFrame[kind="composer"][focused="true"] {{ border: 1px solid {c("accent")}; }}
QPlainTextEdit {{
    background: transparent; color: {c("text")}; border: none; font-size: {TEXT_PROSE}px;
    selection-background-color: {c("accent")}; selection-color: {c("on_accent")};
}}
QPlainTextEdit[kind="field"], QPlainTextEdit[kind="json"] {{
    background: {c("raised")}; border: 1px solid {c("line_strong")};
    border-radius: {RADIUS_FIELD}px; padding: 3px 4px; font-size: {TEXT_LIST}px;
}}
QPlainTextEdit[kind="json"] {{ font-size: {TEXT_SMALL}px; }}
QPlainTextEdit[kind="field"]:focus, QPlainTextEdit[kind="json"]:focus {{
    border: 1px solid {c("accent")};
}}
QPlainTextEdit[kind="code"] {{
    background: {c("code_ground")}; border-radius: {RADIUS_FIELD}px; padding: 6px;
    font-size: {TEXT_SMALL}px;
}}
QCheckBox {{ color: {c("text")}; background: transparent; spacing: 8px; padding: 2px 0; }}
QCheckBox:disabled {{ color: {c("text_second")}; }}
QCheckBox::indicator {{
    width: 14px; height: 14px; border-radius: 4px; border: 1px solid {c("text_second")};
    background: {c("raised")};
}}
QCheckBox::indicator:checked, QCheckBox::indicator:indeterminate {{
    background: {c("accent")}; border-color: {c("accent")};
}}
QCheckBox::indicator:focus {{ border-color: {c("text")}; }}
QRadioButton {{ color: {c("text")}; background: transparent; spacing: 8px; padding: 3px 0; }}
QRadioButton::indicator {{
    width: 12px; height: 12px; border-radius: 7px; border: 1px solid {c("text_second")};
    background: {c("raised")};
}}
QRadioButton::indicator:checked {{
    border: 4px solid {c("accent")}; width: 6px; height: 6px; background: {c("on_accent")};
}}
QRadioButton::indicator:focus {{ border-color: {c("text")}; }}

QTreeView {{
    background: transparent; color: {c("text")}; border: none; outline: none;
    selection-background-color: {c("selected")}; selection-color: {c("text")};
}}
QTreeView::item {{ height: 26px; border: none; padding: 0 6px; }}
QTreeView::item:hover {{ background: {c("hover")}; }}
QTreeView::item:selected {{ background: {c("selected")}; color: {c("text")}; }}
QListWidget[kind="matches"] {{ outline: none; }}
QListWidget[kind="matches"]::item {{
    padding: 5px 8px; border-radius: {RADIUS_FIELD}px; color: {c("text")};
}}
QListWidget[kind="matches"]::item:hover {{ background: {c("hover")}; }}
QListWidget[kind="matches"]::item:selected {{ background: {c("selected")}; }}
QHeaderView {{ background: transparent; border: none; }}
QHeaderView::section {{
    background: transparent; color: {c("text_second")}; border: none; font-size: 11px;
    font-weight: 600; padding: 4px 9px; border-bottom: 1px solid {c("hairline")};
}}
QMenu {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    padding: 5px;
}}
QMenu::item {{ padding: 5px 26px 5px 22px; border-radius: 6px; }}
QMenu::item:selected {{ background: {c("selected")}; }}
QMenu::item:disabled {{ color: {c("text_second")}; }}
QMenu::separator {{ height: 1px; background: {c("hairline")}; margin: 5px 8px; }}
QMenu::indicator {{ width: 12px; height: 12px; left: 5px; }}
QDialog {{ background: {c("raised")}; border: 1px solid {c("line_strong")}; }}
QMessageBox QLabel#qt_msgbox_label {{ font-size: {TEXT_PROSE}px; font-weight: 600; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QToolTip {{
    background: {c("raised")}; color: {c("text")}; border: 1px solid {c("line_strong")};
    padding: 4px 6px;
}}
QSplitter::handle {{ background: {c("hairline")}; }}
QSplitter::handle:hover {{ background: {c("line_strong")}; }}
QAbstractScrollArea {{ background: transparent; border: none; }}
QScrollArea > QWidget > QWidget {{ background: transparent; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar::handle:vertical {{
    background: {c("line_strong")}; border-radius: 3px; min-height: 28px;
}}
QScrollBar::handle:vertical:hover {{ background: {c("text_second")}; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle:horizontal {{
    background: {c("line_strong")}; border-radius: 3px; min-width: 28px;
}}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""
