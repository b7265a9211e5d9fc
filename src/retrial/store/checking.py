"""Finding lessons that do harm among those that are kept, and quarantining them with the evidence."""

from __future__ import annotations

import sqlite3

from retrial.memory.poison import Finding, examine
from retrial.store import uses
from retrial.store.lesson_rows import set_state

__all__ = ["BECAUSE", "check"]

BECAUSE = "trials that were told it do worse than trials that were not"
"""The reason of a quarantine that no person ordered."""


def check(connection: sqlite3.Connection) -> tuple[list[Finding], list[str]]:
    """Quarantine active lessons that do harm; return all findings, and the ids of those quarantined now."""
    uses.bring_up_to_date(connection)
    active = {row[0] for row in connection.execute("SELECT id FROM lesson WHERE state = 'active'")}
    findings = list(examine(uses.facts(connection), released=uses.counted_afresh(connection)))
    quarantined: list[str] = []
    for finding in findings:
        connection.execute("UPDATE lesson SET stake = ? WHERE id = ?", (finding.stake, finding.lesson_id))
        if finding.harmful and finding.lesson_id in active:
            evidence = {
                "words": finding.evidence,
                "effect": finding.effect,
                "p_value": finding.p_value,
                "q_value": finding.q_value,
                "runs": finding.runs,
            }
            set_state(connection, finding.lesson_id, "quarantined", because=BECAUSE, evidence=evidence)
            quarantined.append(finding.lesson_id)
    return findings, quarantined
