"""Isolation and nothing about tests: levels, probes, launching, limits."""
