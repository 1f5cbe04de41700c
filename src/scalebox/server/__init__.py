"""The engine behind HTTP: batches of many clients, on a port or a Unix socket. Needs the extra `server`."""
