"""Interfaces of other sandboxes: their requests become samples, and the engine's results their answers."""
