"""Match modes, one file each, found by file name: `outputs/` compare bytes, `values/` compare decoded values."""
