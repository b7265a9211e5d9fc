"""Every exception that retrial raises, as one tree.

RetrialError
  x ConfigError            a bound, a name or a file is wrong; also a ValueError
  x JournalError           the store cannot be read or written
    + CorruptJournal         what is stored is not what was written
    + StoreTooNew            a later version of retrial wrote it
    + RunBusy                another process is working on the run
    + RunNotFound            no run of that id
    + LessonNotFound         no lesson of that id
  x ReplayError            the journal and the algorithm disagree
    + ReplayMismatch         same key, other request
    + ReplayIncomplete       a finished run lacks a key that the algorithm asks for
    + RunRedacted            a lesson was deleted from what the run said
    + ResumeRefused          another algorithm version or other parameters
    + DuplicateKey           one name used twice in one scope
  x EffectError            the world failed, not the attempt
    + ModelError             the provider refused or never answered
      - RateLimited            come back later; retried below the journal
      - ModelTimeout           no answer in time; retried below the journal
      - ModelUnavailable       5xx or no connection; retried below the journal
      - ModelRejected          authentication, quota, an unknown model, too long a prompt
      - NoRecordedReply        a recording holds no reply for the request
    + HostError              a host function raised
    + ToolError              a tool cannot be called at present; raised by the tool itself, or by what guards it
    + SandboxError           the sandbox broke or is not available at the level required
    + HandlerMissing         nothing attached handles the effect
  x EvaluatorError         the evaluator broke; never a failing verdict
    + GateRefused            it passes what is wrong, or refuses what is right
  x PromptError            a template names a variable that nobody gave
  x BudgetExceeded         a barrier asked for more than the budget holds

Failing is a value, broken is an exception: a wrong answer is a verdict and a crashing candidate a report, neither is
here.
"""

from __future__ import annotations

__all__ = [
    "BudgetExceeded",
    "ConfigError",
    "CorruptJournal",
    "DuplicateKey",
    "EffectError",
    "EvaluatorError",
    "GateRefused",
    "HandlerMissing",
    "HostError",
    "JournalError",
    "LessonNotFound",
    "ModelError",
    "ModelRejected",
    "ModelTimeout",
    "ModelUnavailable",
    "NoRecordedReply",
    "PromptError",
    "RateLimited",
    "ReplayError",
    "ReplayIncomplete",
    "ReplayMismatch",
    "ResumeRefused",
    "RetrialError",
    "RunBusy",
    "RunNotFound",
    "RunRedacted",
    "SandboxError",
    "StoreTooNew",
    "ToolError",
]


class RetrialError(Exception):
    """Catch this to catch everything that retrial raises on purpose."""

    keys: tuple[str, ...] = ()
    """The effects whose failure this is, if any; resume issues exactly these again."""


class ConfigError(RetrialError, ValueError):
    """A bound, a name, a file or a combination of options is wrong. Raised before anything is paid for."""


class JournalError(RetrialError):
    """The store cannot be read or written. What was durable before stays so."""


class CorruptJournal(JournalError):
    """What is stored is not what was written; the message names the place."""


class StoreTooNew(JournalError):
    """A later version of retrial wrote the store."""


class RunBusy(JournalError):
    """Another process, or another task of this one, is working on the run."""


class RunNotFound(JournalError):
    """The store holds no run of that id."""


class LessonNotFound(JournalError):
    """The store holds no lesson of that id."""


class ReplayError(RetrialError):
    """The journal and the algorithm disagree, so going on would invent a past."""


class ReplayMismatch(ReplayError):
    """A key was recorded with another request; the message names the key and the first field that differs."""


class ReplayIncomplete(ReplayError):
    """A finished run lacks an outcome that the algorithm asks for."""


class RunRedacted(ReplayError):
    """A lesson was deleted, and with it what the run had said of it; the message names the lesson."""


class ResumeRefused(ReplayError):
    """The run was made by another version of the algorithm, or with other parameters."""


class DuplicateKey(ReplayError):
    """One name was used twice in one scope of a run."""


class EffectError(RetrialError):
    """The world failed. Never reflected on, never a spent trial."""


class ModelError(EffectError):
    """A model call failed for good."""


class RateLimited(ModelError):
    """The provider asked to wait, and went on asking until the retries were used up."""

    retry_after: float | None = None
    """Seconds that the provider asked to wait, where it said so."""


class ModelTimeout(ModelError):
    """The provider did not answer in time."""


class ModelUnavailable(ModelError):
    """The provider answered 5xx, or the connection failed."""


class ModelRejected(ModelError):
    """The provider will refuse this request however often it is sent: key, quota, model name or length."""


class NoRecordedReply(ModelError):
    """A recording holds no reply for the request; the message names the nearest request that it holds."""


class HostError(EffectError):
    """A registered host function raised."""


class ToolError(EffectError):
    """A tool cannot be called at present, whatever its arguments. A tool raises it when its world is away."""


class SandboxError(EffectError):
    """The sandbox broke, or the level that was required is not available on this machine."""


class HandlerMissing(EffectError):
    """Nothing attached to the engine handles the effect."""


class EvaluatorError(RetrialError):
    """The evaluator broke, or cannot judge anything (zero tests). Never a failing verdict."""


class GateRefused(EvaluatorError):
    """The evaluator passed a known-bad output or failed a known-good one, so nothing was begun behind it."""


class PromptError(RetrialError):
    """A prompt template cannot be rendered."""


class BudgetExceeded(RetrialError):
    """A barrier asked for more than the budget still holds; the message names limit, use and wish."""
