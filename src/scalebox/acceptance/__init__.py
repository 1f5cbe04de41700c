"""Proof of a deployment before training: what must hold is tried through the client, as a trainer would.

What is hostile runs in the deployment's own jails alone; this process sends samples, listens on loopback and
reads logs.
"""
