"""What a person can ask for from within the conversation."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ChatIntents(QObject):
    """Carries wishes from cards to whoever fulfils them.

    Signals:
        answered: Node id, pause id and text of an answer.
        decided: Approval id, whether to allow, the reason of a denial, and whether equal calls of
            the run are allowed, too.
        settled: Call id, and what became of a call of unknown end: `done`, `redo` or `skip`.
        turn_allowed: Approval id; it and all others of the same caller are allowed.
        retried: Id of a failed node that is to be tried again.
        continued: The stopped run is to go on.
        demo_wanted: The workflow is to run on the demo model.
        node_shown: Id of a node that is to be shown on the canvas.
        composer_wanted: Id of a node that is to be answered in the composer.
        file_opened: A path as the conversation names it (absolute, or below the folder of the
            run), and the line that is meant, from 1; 0 where none is named.
        reverted: Batch id of what a call has changed; it is to be taken back.
        refused: The last wish could not be fulfilled; cards can be used again.
    """

    answered = Signal(str, str, str)
    decided = Signal(str, bool, str, bool)
    settled = Signal(str, str)
    turn_allowed = Signal(str)
    retried = Signal(str)
    continued = Signal()
    demo_wanted = Signal()
    node_shown = Signal(str)
    composer_wanted = Signal(str)
    file_opened = Signal(str, int)
    reverted = Signal(str)
    refused = Signal()
