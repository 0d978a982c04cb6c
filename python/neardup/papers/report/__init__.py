"""The report of a paper check.

| module | contents |
|---|---|
| `report` | the report; `results`: its parts; `limits`: limits on the passages it shows |
| `html`, `json_report` | the report as a page and as JSON; `files`: both as files |
| `marking`, `evidence` | the marked paper, and each passage next to its source |
| `excerpts` | the text shown around a passage |
| `notes` | the notes that a report shows, and why a paper was not checked |
| `words`, `templating`, `escaping` | words, templates and safe text, also for the service's pages |
"""
