"""The audit log, for operators."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
from litestar import Response, get
from litestar.params import FromQuery

from scalebox.server.bodies import AnyRequest, answer
from scalebox.server.context import Context
from scalebox.server.errors import Refused
from scalebox.server.guards import needs
from scalebox.server.principal import Role
from scalebox.sinks.audit_log import check, records

_MOST = 1000


def handlers(context: Context) -> list[Any]:
    """Return the handlers."""

    def folder() -> str:
        if context.audit is None:
            raise Refused(404, "this server keeps no audit log", mend="set audit_log")
        return str(context.audit.folder)

    @get("/v1/audit", summary="The newest records", guards=[needs(Role.OPERATOR)], tags=["audit"])
    async def newest(
        request: AnyRequest,
        limit: FromQuery[int] = 100,
        event: FromQuery[str] = "",
        sample_id: FromQuery[str] = "",
        after: FromQuery[int] = -1,
    ) -> Response[Any]:
        """Return the newest records, the oldest of them first; of one event or sample, where one is named.

        With `after`, the oldest beyond the record of that number: page by page, that is all there is.
        """
        most = max(1, min(limit, _MOST))
        found = await asyncio.to_thread(_records, folder(), most, event, sample_id, after)
        return answer(request, {"records": found})

    @get("/v1/audit/check", summary="Whether the log is whole", guards=[needs(Role.OPERATOR)], tags=["audit"])
    async def checked(request: AnyRequest) -> Response[Any]:
        """Verify numbers and hashes of all records: `faults` is empty where none is missing or changed."""
        return answer(request, await asyncio.to_thread(check, folder()))

    return [newest, checked]


def _records(folder: str, most: int, event: str, sample_id: str, after: int) -> list[Any]:
    found = _matching(folder, event, sample_id, max(0, after))
    return list(deque(found, maxlen=most)) if after < 0 else list(islice(found, most))


def _matching(folder: str, event: str, sample_id: str, after: int) -> Iterator[Any]:
    wanted_texts = [_inside(text) for text in (event, sample_id)]
    for _, _, line in records(folder, after):
        # Most lines are passed over by a look at their bytes: only those that may be meant are read.
        if not all(text in line for text in wanted_texts):
            continue
        try:
            record = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            continue  # half of a line that is being written, or what somebody made of it, which the check tells
        about = (record.get("sample_id"), *record.get("ids", ()))
        wanted = event in ("", record.get("event")) and (not sample_id or sample_id in about)
        if wanted and record.get("n", 0) > after:
            yield record


def _inside(text: str) -> bytes:
    """Return a text as it stands in a line, where quotes and the like are escaped."""
    return msgspec.json.encode(text)[1:-1]
