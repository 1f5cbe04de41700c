"""Programs of ours that run in the jail, around what a request sends: standard library alone, Python 3.8 syntax."""
