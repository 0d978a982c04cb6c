"""Libraries: the documents that a paper is compared with.

All answer four questions. `candidates` are the documents that may have a passage of a paper;
`shingle_counts` the numbers of documents that have its shingles; `documents` the texts at some
positions; `positions_of` where a file is among them.

| module | contents |
|---|---|
| `interface` | `Library`, which names the questions, and `LibraryDocument` |
| `text_files` | files and folders, and papers that are compared with each other |
| `stored` | a persistent index |
| `several` | several libraries as one |
| `opening` | `open_library`, which chooses between files and an index |

The service has two more: see `neardup.server.jobs`.
"""

from neardup.papers.library.interface import DESCRIBING, Library, LibraryDocument
from neardup.papers.library.opening import open_library
from neardup.papers.library.several import combine_libraries
from neardup.papers.library.text_files import make_library

__all__ = [
    "DESCRIBING",
    "Library",
    "LibraryDocument",
    "combine_libraries",
    "make_library",
    "open_library",
]
