"""Results that need not be had again: what is kept, under which key, and whether it can still be trusted."""

from scalebox.cache.kept import Kept, Lookup
from scalebox.cache.key import environment, keys_of
from scalebox.cache.store import Store

__all__ = ["Kept", "Lookup", "Store", "environment", "keys_of"]
