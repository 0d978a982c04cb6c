"""Who may do what, and what is refused before it costs anything.

===============  ====================================================================
``keys``         the file of API keys
``auth``         who may do what: by key, or by the session of a browser
``sessions``     the signed cookie; ``csrf``: forms that only our pages can send
``failed_keys``  the back-off after wrong keys
``limits``       how much, how long, how many at once, and for which host
``clients``      who a request comes from, for limits by client
``headers``      what a browser may do with an answer
===============  ====================================================================
"""
