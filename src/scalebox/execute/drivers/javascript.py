"""JavaScript: the driver is what node runs; it loads the program as a module and finds the function by its name."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scalebox.execute.drivers import Driven, support
from scalebox.execute.drivers.ecmascript import signature_of
from scalebox.languages.language import Language

LANGUAGES = ("javascript",)


def drive(language: Language, source: str, calls: Sequence[str]) -> Driven:
    """Return the program with its driver. The types of a function are told by the comment before it, if at all."""
    newer = f"{source}\n;export const scaleboxFind = (name) => eval(name);"
    files = {"solution.js": source, "solution.mjs": newer, **driver_files(source, calls, annotated=False)}
    return Driven(driven_language(language), {name: text.encode("utf-8", "replace") for name, text in files.items()})


def driver_files(source: str, calls: Sequence[str], *, annotated: bool) -> dict[str, str]:
    """Return the driver's own files. Raises NoFunction."""
    told = []
    for call in calls:
        types = signature_of(source, call, annotated=annotated)
        told.append({"call": call.replace("()", ""), "parameters": types.parameters, "returned": types.returned})
    return {"scalebox_driver.js": support("driver.js"), "scalebox_calls.json": msgspec.json.encode(told).decode()}


def driven_language(language: Language) -> Language:
    """Return the language with the driver as what is run."""
    return msgspec.structs.replace(language, run=(*language.run[:-1], "{program}/scalebox_driver.js"))
