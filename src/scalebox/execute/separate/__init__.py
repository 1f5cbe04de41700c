"""Tests in one process, the program under test in another: the test code's names for it are proxies."""
