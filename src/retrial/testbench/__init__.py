"""Tests against code that nobody trusts: supervisor, judge, candidate and their wire; nothing about lessons.

The supervisor (supervisor, session, straight, judged) runs no generated code. The candidate's process holds the code
and never a test; the judge's process holds the tests and is only needed where they are more than literal. What a test
cannot do, because code and tests never share a process: patch the solution's own names, read what it printed, rely on
one object being shared between two calls, or compute with objects whose class it does not name.

Rust is the exception (rust): code and test share a process there, and the report says so.
"""
