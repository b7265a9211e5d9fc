"""Where runs and lessons are kept. SQLite is the embedded default: one file, several processes at once."""

from retrial.store.lessons import LessonBook
from retrial.store.sqlite import SqliteStore

__all__ = ["LessonBook", "SqliteStore"]
