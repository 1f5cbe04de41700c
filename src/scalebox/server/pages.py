"""The page of the OpenAPI schema: plain HTML, which needs no script and no other host."""

from __future__ import annotations

from html import escape
from typing import Any

from litestar import Request
from litestar.openapi.plugins import OpenAPIRenderPlugin

_STYLE = (
    ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:54rem;margin:2rem auto;"
    "padding:0 1rem}code{font-family:ui-monospace,monospace}h3 code:first-child{opacity:.65}"
    "section{border-top:1px solid #8886;padding:.25rem 0}td,th{padding:.15rem .9rem .15rem 0;text-align:left;"
    "vertical-align:top}p{white-space:pre-line}"
)


class PlainPage(OpenAPIRenderPlugin):
    """Lists what the server answers, group by group."""

    def __init__(self) -> None:
        super().__init__(path="/")

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the page."""
        info = openapi_schema["info"]
        groups: dict[str, list[str]] = {}
        for path, operations in sorted(openapi_schema.get("paths", {}).items()):
            for method, operation in operations.items():
                group = (operation.get("tags") or ["other"])[0]
                groups.setdefault(group, []).append(_operation(method, path, operation))
        title = f"{escape(info['title'])} {escape(info['version'])}"
        parts = "".join(f"<h2>{escape(group)}</h2>{''.join(items)}" for group, items in sorted(groups.items()))
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
            f'<h1>{title}</h1><p>For programs: <a href="{escape(self.get_openapi_json_route(request))}">'
            f"the schema as JSON</a>.</p>{parts}</body></html>"
        ).encode()


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(each['name'])}</code></td><td>{escape(each['in'])}</td>"
        f"<td>{escape(each.get('description') or '')}</td></tr>"
        for each in operation.get("parameters", ())
    )
    table = f"<table><tr><th>name</th><th>in</th><th>meaning</th></tr>{rows}</table>" if rows else ""
    return (
        f"<section><h3><code>{escape(method.upper())}</code> <code>{escape(path)}</code></h3>"
        f"<p><strong>{escape(operation.get('summary') or '')}.</strong> "
        f"{escape(operation.get('description') or '')}</p>{table}</section>"
    )
