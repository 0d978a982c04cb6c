"""The service: the index over HTTP, for programs and for people.

=========================== ========================================================
``settings``                what a service is told when it starts, with all limits
``app``                     the application, put together, started and stopped
``running``                 one process, or several, that serve until told to stop
``store``                   the index, opened when needed, away from the event loop
``writer``                  what comes in at the same time is stored together
``routes``                  the operations of the API, a file for each group
``models``, ``answers``     what clients send, checked; what they are told, described
``bodies``, ``answering``   JSON in and out
``problems``                errors, all in one shape
``metrics``, ``logs``       figures for Prometheus; what is logged
``keys``, ``auth``          API keys, and who may do what
``signing``, ``csrf``       signed cookies, and forms that only our pages can send
``limits``, ``headers``     what is refused before it is read, what browsers may do
``clients``                 who a request comes from, for limits by client
``failed_keys``             the back-off after wrong keys
``uploads``, ``libraries``  papers that come in, and what they are held against
``jobs``, ``neardup.server.jobs.job_folder``    checks of papers, which take longer than a request
``temporary_folders``       where reports are, and how those of a killed service go
``checks``                  one check; ``check_metrics`` has the figures about all
``apart``                   parts of a check in a process of their own: ``reading``,
                            ``reading_process``, ``rendering_process``
``pages``                   the page
=========================== ========================================================

It needs ``pip install 'neardup[server]'``. No file here has an algorithm: requests are
mapped to the public functions of the package, and its errors to status codes.
"""

from neardup.server.app import create_app
from neardup.server.settings import Settings

__all__ = ["Settings", "create_app"]
