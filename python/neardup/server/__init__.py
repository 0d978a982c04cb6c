"""The service: the index over HTTP, for programs and for people.

=============  ======================================================================
``settings``   the settings of a service, with all limits
``app``        the application, put together, started and stopped
``running``    one process, or several, that serve until told to stop
``store``      the index, opened when needed, away from the event loop
``writer``     group commit: what arrives together is stored together
``problems``   errors, all in one shape
``metrics``    figures for Prometheus; ``logs``: what is logged; ``clock``: the time
``api``        a file for each group of operations; ``schemas``: what they answer;
               ``request_models``, ``json_body``: what they read
``pages``      the pages for people
``jobs``       checks of papers, which take longer than a request
``security``   keys, sessions, forms, headers, and what is refused before it is read
=============  ======================================================================

It needs ``pip install 'neardup[server]'``. No file here has an algorithm: requests are
mapped to the public functions of the package, and its errors to status codes.
"""

from neardup.server.app import create_app
from neardup.server.settings import Settings

__all__ = ["Settings", "create_app"]
