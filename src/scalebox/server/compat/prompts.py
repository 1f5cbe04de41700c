"""Prompts of SandboxFusion's data sets, made of the rows that a request carries."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template
from typing import Any

from scalebox.core.errors import InputError
from scalebox.server.compat.datasets import KINDS, labels_of
from scalebox.server.compat.fusion import Prompt, PromptsRequest, TestConfig
from scalebox.server.errors import Refused

Row = Mapping[str, Any]

_WHOLE_PROGRAM = (
    "Write a complete program in {language}. It reads standard input and prints its answer to standard output."
)
_COMPLETE = "Complete the code above as its comments say. Answer with all of it in one Markdown block, without main."


def prompts(request: PromptsRequest) -> list[Prompt]:
    """Return the prompts of the rows from `offset` on, at most `limit`. Raises Refused, InputError."""
    rows = _rows(request.config)[max(request.offset, 0) :][: max(request.limit, 0)]
    return [_prompt(row, request.config) for row in rows]


def prompt_by_id(request: PromptsRequest) -> Prompt:
    """Return the prompt of the row, or of the one among several that has the id. Raises Refused, InputError."""
    rows = _rows(request.config)
    found = [row for row in rows if _id(row) == request.id] if len(rows) > 1 else rows
    if not found:
        raise Refused(404, f"no row of config.provided_data has the id {request.id!r}")
    return _prompt(found[0], request.config)


def ids(request: PromptsRequest) -> list[int | str]:
    """Return the ids of the rows. Raises Refused, InputError."""
    return [_id(row) for row in _rows(request.config)[max(request.offset, 0) :][: max(request.limit, 0)]]


def _rows(config: TestConfig) -> list[Row]:
    if config.dataset_type not in KINDS:
        raise Refused(400, f"config.dataset_type must be one of {', '.join(KINDS)}: no data sets are held here")
    rows = config.provided_data if isinstance(config.provided_data, list) else [config.provided_data]
    if not all(isinstance(row, Mapping) and row for row in rows):
        raise Refused(400, "config.provided_data must be the rows of the data set: no rows are held here")
    return list(rows)


def _id(row: Row) -> int | str:
    for name in ("id", "task_id", "name"):
        if isinstance(row.get(name), int | str):
            return row[name]  # type: ignore[no-any-return]  # of a row
    raise InputError("missing", field="config.provided_data.id")


def _prompt(row: Row, config: TestConfig) -> Prompt:
    labels, language = dict(labels_of(row)), config.language or "python"
    if config.dataset_type in ("HumanEvalDataset", "EvoEvalDataset"):
        text = str(row.get("prompt") or "")
        if (config.extra or {}).get("is_freeform"):
            tag = str(row.get("language") or language).split(".")[0]
            text = f"```{tag}\n{text}\n```\n\n{_COMPLETE}"
        return Prompt(id=_id(row), prompt=text, labels={key: row[key] for key in row if key != "prompt"})
    text = str(row.get("content") or row.get("question") or "")
    if config.dataset_type == "CommonOJDataset":
        text = f"{text}\n\n{_WHOLE_PROGRAM.format(language=language)}"
    if config.dataset_type == "AutoEvalDataset":
        text = _templated(text, labels, config)
    return Prompt(id=_id(row), prompt=text, labels=labels)


def _templated(text: str, labels: Row, config: TestConfig) -> str:
    """Return the question in the row's template, with its context and examples before it."""
    extra = config.extra or {}
    context = str(extra.get("context") or labels.get("context") or "")
    examples = str(extra.get("fewshot") or labels.get("fewshot") or "") if config.is_fewshot else ""
    template = extra.get("prompt_template") or labels.get("prompt_template")
    if template:
        values = {"question": text, "fewshot": examples, "context": context, "locale": config.locale or ""}
        return Template(str(template)).safe_substitute(values)
    return "\n\n".join(part for part in (context, examples, text) if part)
