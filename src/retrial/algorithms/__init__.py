"""Control flow and nothing else: each algorithm is an async function over a run, bounded when it is made."""

from retrial.algorithms.reflexion import Reflexion

__all__ = ["Reflexion"]
