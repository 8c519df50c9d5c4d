"""Files to text, and text to chunks. Knows nothing of where a file comes from or what its text is for."""

from lockgate.documents.chunking import DEFAULT_MAX_CHARACTERS, DEFAULT_OVERLAP, Chunk, chunk
from lockgate.documents.decoding import NotTextError, decode
from lockgate.documents.folders import FolderListing, ListedFile, list_folder
from lockgate.documents.headings import Heading, find_headings
from lockgate.documents.kinds import Document, DocumentKind, kind_of
from lockgate.documents.reading import MAX_DOCUMENT_BYTES, read_document

__all__ = [
    "DEFAULT_MAX_CHARACTERS",
    "DEFAULT_OVERLAP",
    "MAX_DOCUMENT_BYTES",
    "Chunk",
    "Document",
    "DocumentKind",
    "FolderListing",
    "Heading",
    "ListedFile",
    "NotTextError",
    "chunk",
    "decode",
    "find_headings",
    "kind_of",
    "list_folder",
    "read_document",
]
