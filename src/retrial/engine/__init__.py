"""The only place where time passes: runs algorithms over a journal, performing or replaying their effects.

Only ``Run``, ``Call``, ``Branch``, ``Failed``, ``Algorithm`` and ``Engine`` are for others; import them from here.
"""

from retrial.engine.engine import Engine
from retrial.engine.run import Algorithm, Branch, Call, Failed, Run

__all__ = ["Algorithm", "Branch", "Call", "Engine", "Failed", "Run"]
