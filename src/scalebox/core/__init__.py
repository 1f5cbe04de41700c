"""Types, limits, verdicts, codecs, settings and errors. No I/O, no dependency on any other layer."""
