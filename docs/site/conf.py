"""The site: the pages of docs, the API from docstrings, and pages that neardup makes."""

import logging
import re
from pathlib import Path

import jieba

HERE = Path(__file__).parent

# It would say how long its dictionary took to load.
jieba.setLogLevel(logging.WARNING)

project = "neardup"
author = "the authors of neardup"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "README"
html_theme = "furo"
# Blocks without a language are commands and what they print.
highlight_language = "text"
html_title = "neardup"
html_extra_path = ["made"]
html_static_path = ["_static"]
# Before the words of the search.
html_js_files = [("stemmer.js", {"priority": 100})]
# Also finds English words, by their stems.
html_search_language = "zh"
html_show_sphinx = html_show_copyright = html_copy_source = False
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Docstrings are in the style of NumPy.
napoleon_google_docstring = False

#: What the start page has below its own text: the pages in the order of the side bar.
CONTENTS = """

```{toctree}
:hidden:
:caption: Guides

guide/sources
guide/other-tools
guide/first-run
guide/dedup
guide/files
guide/large
guide/too-many-too-few
guide/repeats
guide/contamination
guide/pipelines
guide/limits
guide/pairs-and-compare
guide/databases
guide/check
guide/index
guide/serve
guide/mcp
guide/recipes
guide/evaluate
guide/segmenters
guide/cluster
```

```{toctree}
:hidden:
:caption: 中文

zh/sources
zh/other-tools
zh/first-run
zh/dedup
zh/files
zh/large
zh/too-many-too-few
zh/pairs-and-compare
zh/check
zh/index
zh/serve
zh/evaluate
zh/recipes
zh/segmenters
zh/methods
zh/differences
```

```{toctree}
:hidden:
:caption: Reference

cli-reference
api
methods
formats
errors
settings
papers
index-rules
evaluation
promises
glossary
differences
accuracy
benchmarks
bibliography
```

```{image} pictures/review.en.png
:alt: A removed text beside the kept one; what both share is numbered, what differs is framed
```

Pages that neardup makes: <a href="review.html">a review of what was removed</a> and
<a href="report.html">a report of a paper</a>.
"""

# It needs more than a Python to be made.
if (HERE / "made" / "try.html").exists():
    CONTENTS += """
<a href="try.html">The engine in your browser</a> compares two texts and cleans a small file, and
sends nothing.
"""

_LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def setup(app):
    """Read the pages as they are on a code host."""
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", number)
    app.connect("html-page-context", in_chinese)


def in_chinese(_app, page, _template, context, _doctree):
    """Name the language of Chinese pages, from which browsers choose the forms of characters."""
    if page.startswith("zh/"):
        context["language"] = "zh-CN"


def number(_app, _what, name, _of, _options, lines):
    """Make the numbers of references differ between the docstrings of one page."""
    own = name.rpartition(".")[2]
    lines[:] = [re.sub(r"\[(\d+)\](?=_|\s)", rf"[{own}-\1]", line) for line in lines]


def read(_app, page, source):
    """Turn links to files outside of the site into their text, and add the side bar."""
    folder = (HERE / page).parent

    def inside(link):
        target = (folder / link[2].partition("#")[0]).resolve()
        if not (target.is_file() and target.is_relative_to(HERE)):
            return link[1]
        # A link that is named by its file gets the title of the page.
        return f"[]({link[2]})" if link[1].endswith(".md") else link[0]

    source[0] = _LINK.sub(inside, source[0])
    if page == root_doc:
        source[0] += CONTENTS
