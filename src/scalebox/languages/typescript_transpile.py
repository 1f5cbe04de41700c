"""TypeScript without a look at its types: they are taken out, and what is left is run by node."""

import msgspec

from scalebox.languages import typescript
from scalebox.languages.language import Resident

_TRANSPILE = ("--transpile", "{source}")

LANGUAGE = msgspec.structs.replace(
    typescript.LANGUAGE,
    name="typescript-transpile",
    title="TypeScript, types not checked",
    aliases=("ts-transpile",),
    extensions=(),
    tag="typescript",
    build=((*typescript.RESIDENT, *_TRANSPILE),),
    resident=Resident(typescript.RESIDENT, typescript.RESIDENT),
)
