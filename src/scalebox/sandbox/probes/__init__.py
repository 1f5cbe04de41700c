"""The probes of the conformance check: hostile programs, and how to tell from outside whether a promise held.

Each module of this folder that defines `PROBES` is found by its file name.
"""
