"""Guard: which requests the studio answers. It trusts nobody: not other pages of the browser, nor other programs.

A page elsewhere can send requests to this machine, and a name of its own can point here ("rebinding"): so the Host must
be this machine's, the Origin of a WebSocket this page's, and all must know the token.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")

POLICY = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Guard:
    """Checks requests.

    Parameters
    ----------
    port : at which the studio listens
    token : which only those know who were given the address
    """

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def refusal(self, headers: Mapping[str, str], token: str, origin_needed: bool) -> str:
        """Return why a request is refused, in one line; "" where it is answered.

        `origin_needed`: a browser says where a WebSocket comes from; what says nothing is another program.
        """
        hosts = {f"{name}:{self.port}" for name in _NAMES}
        origin = headers.get("origin")
        if headers.get("host", "") not in hosts:
            return f"Host: expected {HOST}:{self.port}"
        if origin is not None and origin_needed and origin not in {f"http://{host}" for host in hosts}:
            return f"Origin: expected http://{HOST}:{self.port}"
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return "token: expected the one of the address that `posespace studio` printed"
        return ""
