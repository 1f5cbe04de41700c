"""What an operator may see and a trainer may not: the audit log of a server, asked for over HTTP."""

from __future__ import annotations

from typing import Any, Self

import msgspec

from scalebox.acceptance import logs
from scalebox.acceptance.logs import Record
from scalebox.acceptance.model import Failed, Finding, find
from scalebox.client.address import parse_address
from scalebox.client.http import Http, need_aiohttp
from scalebox.core.errors import AuthenticationError
from scalebox.sinks.audit_log import Checked

_PAGE = 1000
_ANSWER_S = 600.0


class _Page(msgspec.Struct):
    records: list[dict[str, Any]]


class Auditor:
    """Reads the audit log of the server at `url` with an operator's token, and tries what `token` may not do.

    Raises InputError, AuthenticationError, ServerError, and what else a server refuses.
    """

    def __init__(self, url: str, operator: str, token: str, retry_s: float = 10.0) -> None:
        need_aiohttp()
        address = parse_address(url)
        self._operator, self._trainer, self._nobody = (Http(address, shown, retry_s) for shown in (operator, token, ""))
        self._begun = 0

    async def __aenter__(self) -> Self:
        """Note where the log ends now: what was written before is none of this run."""
        try:
            newest = await self._page("/v1/audit?limit=1")
        except BaseException:
            await self.close()
            raise
        self._begun = newest[-1]["n"] if newest else 0
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        for http in (self._operator, self._trainer, self._nobody):
            await http.close()

    async def records(self, prefix: str) -> dict[str, Record]:
        """Return what the log says of samples whose id begins with `prefix`."""
        found: dict[str, Record] = {}
        after = self._begun
        while page := await self._page(f"/v1/audit?limit={_PAGE}&after={after}"):
            for record in page:
                logs.note(found, record, prefix)
            after = page[-1]["n"]
        return found

    async def findings(self) -> list[Finding]:
        """Return whether the log is whole, and closed to those whom it is about."""
        checked = await self._operator.request("GET", "/v1/audit/check", answer_s=_ANSWER_S)
        told = checked.read(Checked)
        refused = [await _refused(self._nobody), await _refused(self._trainer)]
        return [
            find(
                "log.chain",
                "A log in which lines can be changed or taken out unseen proves nothing.",
                "keep the folder of audit_log from all but the server; scalebox audit --check says what was changed",
                lambda: _whole(told),
            ),
            find(
                "access.roles",
                "Who reads the audit log learns what was caught, and how to be missed.",
                "give trainers tokens of the role trainer, and start the server with server_tokens",
                lambda: _closed(*refused),
            ),
        ]

    async def _page(self, path: str) -> list[dict[str, Any]]:
        answer = await self._operator.request("GET", path, answer_s=_ANSWER_S)
        return answer.read(_Page).records


async def _refused(http: Http) -> str:
    """Return how the audit log was refused, "" where it was given out."""
    try:
        await http.request("GET", "/v1/audit?limit=1")
    except AuthenticationError as error:
        return str(error)
    return ""


def _whole(told: Checked) -> str:
    if told.faults:
        raise Failed(f"{len(told.faults)} faults, such as {told.faults[0]}")
    return f"records 1 to {told.last}, each bound to the one before; the last has the hash {told.digest}"


def _closed(nobody: str, trainer: str) -> str:
    let_in = [who for who, refused in (("nobody's", nobody), ("the trainer's", trainer)) if not refused]
    if let_in:
        raise Failed(f"the audit log was given out for {' and '.join(let_in)} token")
    return "the audit log is refused without a token, and to the trainer's"
