"""What a ledger holds, as a finding in three honest layers: proven, suspected, cleared."""

from __future__ import annotations

from .beliefs import beliefs
from .decode import Chances, Levels
from .finding import Claim, Finding, Status, Suspect, Unfinished
from .gate import read_removed
from .keep_only import kept_only
from .ledger import Ledger
from .orders import orders_tried
from .outlook import planned_samples
from .ranking import ranked_claims
from .shifts import against, largest_shifts

SUSPECTED = 0.2
"""Chance from which a leaf is listed as suspected."""
CLEARED = 0.05
"""Chance below which a leaf that was removed without effect is cleared, whether or not it has a slot."""
UNPROVEN_CAUSE = 0.5
"""A suspect this likely at the end, and nothing proven, means that reruns were missing, not that there is no cause."""
RATIOS = (0.2, 0.35, 0.5)
"""Shares of the rate that a cause may leave, for which the chance of having missed one is told."""


def summarise(ledger: Ledger, *, stopped: bool) -> Finding:
    """Everything known now; valid at any moment, since claims come from slots alone.

    Args:
        ledger: The state of the search.
        stopped: Somebody stopped the search before it was done.
    """
    proven = ranked_claims(ledger)
    # The base goes on growing after a proof. Where all of it contradicts one, the model has changed in between.
    claims = tuple(claim for claim in proven if claim.low > 0)
    chances = beliefs(ledger)
    suspects, cleared = _unproven(ledger, chances, {leaf for claim in claims for leaf in claim.leaves})
    listed = frozenset(ledger.units.of[suspect.leaf] for suspect in suspects)
    missing = sorted(frozenset(range(len(ledger.units))) - ledger.hold - ledger.proven_units - listed)
    return Finding(
        status=_status(ledger, claims, suspects, stopped=stopped),
        base=ledger.base,
        claims=claims,
        suspects=suspects,
        cleared=len(cleared),
        cleared_leaves=cleared,
        held=tuple(sorted(ledger.units.leaves(ledger.hold))),
        missed=float(chances[missing].sum()) if missing else 0.0,
        missed_by_ratio=tuple(
            (ratio, float(beliefs(ledger, Levels((ratio,), (1.0,)))[missing].sum())) for ratio in RATIOS if missing
        ),
        shifts=() if claims else largest_shifts(ledger),
        against=against(ledger),
        orders=orders_tried(ledger),
        restarts=ledger.restarts,
        kept_only=kept_only(ledger),
        read_removed=read_removed(ledger),
        rounds=ledger.rounds,
        samples=ledger.spent,
        planned=planned_samples(ledger),
        unfinished="drift" if len(claims) < len(proven) else _unfinished(ledger, stopped=stopped),
    )


def _unproven(ledger: Ledger, chances: Chances, claimed: set[int]) -> tuple[tuple[Suspect, ...], tuple[int, ...]]:
    """Leaves that are suspected, likeliest first, and those that are cleared, in context order."""
    alone = frozenset[int]().union(*(slot.leaves for slot in ledger.open if len(slot.units) == 1))
    together = frozenset[int]().union(*(slot.leaves for slot in ledger.open if len(slot.units) > 1))
    tried = frozenset[int]().union(*(variant for variant, tally in ledger.nominating() if tally.kept))
    suspects: list[Suspect] = []
    cleared: list[int] = []
    for leaf, unit in enumerate(ledger.units.of):
        chance = float(chances[unit])
        if leaf in claimed:
            continue
        if leaf in together or chance > (CLEARED if leaf in alone else SUSPECTED):
            suspects.append(Suspect(leaf, chance))
        elif leaf in tried and chance < CLEARED:
            cleared.append(leaf)
    suspects.sort(key=lambda suspect: (-suspect.probability, suspect.leaf))
    return tuple(suspects), tuple(cleared)


def _status(ledger: Ledger, claims: tuple[Claim, ...], suspects: tuple[Suspect, ...], *, stopped: bool) -> Status:
    """The search's answer in a few words."""
    if stopped and not ledger.ended:
        return "stopped"
    if ledger.answer:
        return ledger.answer
    if claims:
        return "found"
    if ledger.ended != "done" or any(suspect.probability > UNPROVEN_CAUSE for suspect in suspects):
        return "not enough reruns"
    return "nothing found"


def _unfinished(ledger: Ledger, *, stopped: bool) -> Unfinished | None:
    """Why the search is not done; None when it is."""
    if ledger.ended == "done":
        return None
    return ledger.ended or ("stopped" if stopped else "running")
