"""Plain values: what is said, asked, recorded and counted. Standard library only; imports nothing but errors."""
