"""The server: the engine over HTTP."""
