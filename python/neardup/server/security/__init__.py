"""Authentication, authorization and limits, enforced before a request costs anything.

===============  ====================================================================
``keys``         the API key file
``auth``         scopes, by API key or by browser session
``sessions``     the signed cookie; ``csrf``: CSRF protection of the forms
``failed_keys``  back-off after failed keys
``limits``       size, time and concurrency limits; the Host header
``clients``      identifies the client of a request, for limits per client
``headers``      security headers of every response
===============  ====================================================================
"""
