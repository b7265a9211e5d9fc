"""Where runs and lessons are kept. SQLite is the embedded default: one file, several processes at once."""

from retrial.store.lessons import LessonShelf
from retrial.store.sqlite import SqliteStore

__all__ = ["LessonShelf", "SqliteStore"]
