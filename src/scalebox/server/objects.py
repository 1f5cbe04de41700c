"""Requests whose body is one object."""

from __future__ import annotations

from typing import Any

from litestar import Request

from scalebox.core.jsonl import decode_object


async def body_of(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """Return the JSON object that a request brings, an empty one where it brings nothing; raises InputError."""
    body = await request.body()
    return decode_object(body) if body else {}
