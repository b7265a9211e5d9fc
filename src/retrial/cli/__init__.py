"""The command line: a thin skin over the engine, its store and its views."""
