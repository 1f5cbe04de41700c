"""The builtins as they were when this was loaded: before the program under test ran, which may replace them.

A module that says `__builtins__ = OWN` above its functions has them look up builtins here.

Sent into the jail and run there by the sample's interpreter: standard library alone, Python 3.8.
"""

from __future__ import annotations

import builtins
from typing import Any

OWN: Any = dict(vars(builtins))
