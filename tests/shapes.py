"""Models that tests name by their import path."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field, field_validator


class Enrolment(BaseModel):
    student: Annotated[str, Field(min_length=1)]
    course: str
    date: date
    fee: float | None = None


class Message(BaseModel):
    enrolments: Annotated[list[Enrolment], Field(min_length=1)]


class Broken(BaseModel):
    x: int

    @field_validator("x")
    @classmethod
    def look(cls, value: int) -> int:
        raise KeyError("a fault of the model")
