"""Identifies the client of a request, for limits per client.

A client is the API key of a request, or else its address; if the request comes through a
trusted proxy, the address that the proxy forwards. An IPv6 host usually has a whole /64
network of 2**64 addresses, so such a network counts as one address. Requests from this machine
without a key are not limited per client.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from neardup.server.security.keys import Key

__all__ = ["address_of", "client_name", "client_of", "network_of"]

_IPV6_NETWORK = 64
#: Leading digits of a key's digest that identify the key.
_DIGEST = 32


def network_of(host: str) -> str:
    """Return the unit that counts as one address: an IPv4 address or an IPv6 /64 network.

    Examples
    --------
    >>> network_of("192.0.2.7"), network_of("2001:db8::7"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A proxy may forward a value that is not an address.
        return host[:64]
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((int(address), _IPV6_NETWORK), strict=False))


def address_of(scope: Scope) -> str:
    """Return the address that a request comes from, empty if unknown."""
    client = scope.get("client")
    return network_of(client[0]) if client else ""


def client_name(scope: Scope, key: Key | None) -> str | None:
    """Return the client of a request: its key, or its address; None for this machine itself."""
    if key is not None:
        return f"key {key.digest[:_DIGEST]}"
    address = address_of(scope)
    try:
        local = not address or ipaddress.ip_address(address).is_loopback
    except ValueError:
        local = False
    return None if local else f"address {address}"


def client_of(request: Request) -> str | None:
    """Return the client of a request, as recorded by `neardup.server.security.limits`."""
    client: str | None = getattr(request.state, "client", None)
    return client
