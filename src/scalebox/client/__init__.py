"""What a trainer holds: a client, asynchronous or not, of an engine."""

from scalebox.client.asynchronous import AsyncScaleBoxClient
from scalebox.client.synchronous import ScaleBoxClient

__all__ = ["AsyncScaleBoxClient", "ScaleBoxClient"]
