"""Files that go along with a text, as a model can take them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.messages import Attachment

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF_TYPE = "application/pdf"
TEXT_TYPES = frozenset(
    {
        "text/plain",
        "text/markdown",
        "text/csv",
        "text/html",
        "text/css",
        "text/javascript",
        "text/x-python",
        "application/json",
        "application/javascript",
        "application/x-python",
    }
)


class AttachmentSource(Protocol):
    """Where the bytes of attachments are kept."""

    async def read(self, attachment: Attachment) -> bytes | None:
        """The bytes of an attachment, `None` if they are gone."""


class FilePart(Struct, frozen=True):
    """One file: an image or a PDF as base64 in `data`, or text with its name before it."""

    name: str
    mime_type: str
    data: str = ""
    text: str = ""

    @property
    def is_image(self) -> bool:
        """Whether it is a picture."""
        return self.mime_type in IMAGE_TYPES

    @property
    def data_url(self) -> str:
        """The data as an URL that carries it."""
        return f"data:{self.mime_type};base64,{self.data}"


Files = Mapping[str, FilePart]
"""Files by the id of their attachment."""


async def read_files(
    attachments: Iterable[Attachment], source: AttachmentSource | None
) -> dict[str, FilePart]:
    """Read what a request refers to, before anything is sent.

    Raises:
        ModelCallError: if a file is gone, no text although it says so, or of no known type.
    """
    files: dict[str, FilePart] = {}
    for attachment in attachments:
        if attachment.id not in files:
            content = None if source is None else await source.read(attachment)
            files[attachment.id] = file_part(attachment, content)
    return files


def file_part(attachment: Attachment, content: bytes | None) -> FilePart:
    """A file as a part of a message.

    Raises:
        ModelCallError: see `read_files`.
    """
    name, kind = attachment.name, attachment.mime_type.partition(";")[0].strip().lower()
    if content is None:
        raise _refused(f"the attached file '{name}' is gone; attach it again")
    if kind in IMAGE_TYPES or kind == PDF_TYPE:
        return FilePart(name, kind, data=base64.b64encode(content).decode("ascii"))
    if kind not in TEXT_TYPES:
        raise _refused(f"the attached file '{name}' is of a type that no model takes ({kind})")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refused(f"the attached file '{name}' is not text in UTF-8") from None
    return FilePart(name, kind, text=f"File {name}:\n\n{text}")


def _refused(message: str) -> ModelCallError:
    return ModelCallError(PermanentFailure(message))
