"""How the requests of a wave are divided into batches."""

from __future__ import annotations

from collections.abc import Sequence

from .. import canon
from ..wire.values import JsonObject
from .batch_service import BatchService

AROUND_A_BODY = 300
"""Bytes of a line of a batch beside the body of its request."""


def parcels(bodies: Sequence[JsonObject], service: BatchService) -> list[list[int]]:
    """Numbers of the requests in each batch: as few batches as the service allows, in the order of the requests."""
    full: list[list[int]] = []
    filling: dict[str, tuple[list[int], int]] = {}
    for at, body in enumerate(bodies):
        model = body.get("model") if service.one_model else None
        kind = canon.digest(model)
        size = len(canon.dumps(body)) + AROUND_A_BODY
        parcel, filled = filling.get(kind, (None, 0))
        if parcel is None or len(parcel) == service.most or filled + size > service.largest:
            parcel, filled = list[int](), 0
            full.append(parcel)
        parcel.append(at)
        filling[kind] = (parcel, filled + size)
    return full
