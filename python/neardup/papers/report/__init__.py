"""The report of a paper check.

| module | holds |
|---|---|
| `report` | the report; `results`: what it is made of; `limits`: how many passages it shows |
| `html`, `json_report` | the report as a page and as JSON; `files`: both as files |
| `marking`, `evidence` | the marked paper, and each passage beside its source |
| `excerpts` | what is shown around a passage |
| `notes` | which notes a report shows, and why a paper was not checked |
| `words`, `templating`, `escaping` | words, templates and safe text, of the service's pages too |
"""
