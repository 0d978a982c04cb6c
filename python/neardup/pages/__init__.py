"""The common part of all HTML pages: the report of a check, the review, the service.

| module | contents |
|---|---|
| `templating` | renders the files of ``templates/``; safe text |
| `words` | the words of pages in both languages, from the catalogue of messages |
| `excerpts` | the beginning of a text, and the text around a passage |
| `marking` | a text cut into runs, for passages that overlap |
| `sides` | two texts next to each other |
| `printing` | a page as PDF |

Values that only one page shows are computed by its owner: `neardup.papers.report`,
`neardup.tasks.review` and `neardup.server.pages`.
"""
