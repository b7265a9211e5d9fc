"""Tests against code that nobody trusts: supervisor, judge, candidate and their wire; nothing about lessons."""
