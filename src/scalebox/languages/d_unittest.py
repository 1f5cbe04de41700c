"""D's unit tests: a program's `unittest` blocks are what runs, in the place of `main`, which it need not have."""

import msgspec

from scalebox.languages import d
from scalebox.languages.language import SelfTest

LANGUAGE = msgspec.structs.replace(
    d.LANGUAGE,
    name="d-unittest",
    title="D, its unit tests",
    aliases=("d_ut",),
    extensions=(),
    tag="d",
    build=((d.BUILD[0], "-funittest", "-fmain", *d.BUILD[1:]),),
    self_test=SelfTest("int twice(int x) { return 2 * x; }\nunittest { assert(twice(21) == 42); }\n", "", ""),
)
