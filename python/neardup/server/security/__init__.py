"""Authentication, authorization and limits, enforced before a request costs anything.

| module | has |
|---|---|
| `keys` | the API key file |
| `auth` | scopes, by API key or by browser session; requests of other sites |
| `connections` | limits of time before a request is complete; ambiguous requests |
| `limits` | limits of time and number |
| `headers` | security headers of every response |
"""
