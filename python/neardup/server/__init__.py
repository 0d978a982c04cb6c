"""The service: the index over HTTP, for programs and for people.

| module | has |
|---|---|
| `settings` | settings of a service, with all limits |
| `app` | the application: middlewares, routes, lifespan |
| `running` | serves until a signal stops it |
| `store` | the index, opened when needed, away from the event loop |
| `writer` | group commit: waiting documents share one transaction |
| `problems` | errors as RFC 9457 problems; `errors`: the handler of all errors |
| `metrics` | metrics for Prometheus; `logs`: the log |
| `api` | one file per group of operations, with the bodies of requests and answers |
| `pages` | HTML pages for people |
| `jobs` | paper checks, which take longer than a request may |
| `security` | keys, sessions, headers, and limits enforced before a body is read |

It needs ``pip install 'neardup[server]'``. It contains no algorithm: it maps requests to the
public functions of the package, and errors to status codes.
"""

from neardup.server.app import create_app
from neardup.server.settings import Settings

__all__ = ["Settings", "create_app"]
