"""Submissions. ``AllocationSpec`` is the short form; ``more`` holds further fields under their API names. The server validates
them.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

__all__ = ["AllocationSpec", "Submission", "body_of"]


@dataclass(kw_only=True)
class AllocationSpec:
    """Exactly one of ``entrypoint`` (a line for /bin/sh), ``command`` (words) and ``script`` (a whole file)."""

    entrypoint: str | None = None
    command: Sequence[str] | None = None
    script: str | None = None
    nodes: int | Mapping[str, int] | None = None
    """A count, or ``{"min": 2, "max": 8}``."""
    walltime: str | None = None
    """``"72h"``, ``"90m"``, ``"HH:MM:SS"`` or ``"D-HH:MM:SS"``."""
    tenant: str | None = None
    project: str | None = None
    vcluster: str | None = None
    name: str | None = None
    tags: Mapping[str, str] | None = None
    intent: str | None = None
    constraints: Mapping[str, Any] | None = None
    tasks_per_node: int | None = None
    uenv: str | None = None
    view: str | None = None
    image: str | None = None
    env: Mapping[str, str] | None = None
    workdir: str | None = None
    """Default: the current directory, except in a container. ``""``: the folder of the attempt."""
    mounts: Sequence[Mapping[str, Any]] | None = None
    priority: str | None = None
    preemption_class: int | None = None
    requeue_policy: str | None = None
    max_requeue: int | None = None
    no_preempt: bool | None = None
    depends_on: Sequence[Mapping[str, str] | str] | None = None
    task_group: Mapping[str, int | str] | str | None = None
    output_file: str | None = None
    """File on the node that also receives the output; %j and similar patterns are expanded."""
    error_file: str | None = None
    checkpoint: str | None = None
    telemetry: str | None = None
    network_domain: str | None = None
    expose: Sequence[Mapping[str, Any]] | None = None
    sensitive: bool | None = None
    hold: bool | None = None
    """Submits the allocation held."""
    more: Mapping[str, Any] = field(default_factory=dict)


Submission = Union[AllocationSpec, Mapping[str, Any]]
"""A mapping is sent unchanged."""


def body_of(submission: Submission) -> dict[str, Any]:
    if not isinstance(submission, AllocationSpec):
        return dict(submission)
    stated = {
        one.name: getattr(submission, one.name)
        for one in dataclasses.fields(submission)
        if one.name != "more" and getattr(submission, one.name) is not None
    }
    # The current directory does not exist inside a container.
    if submission.workdir is None and submission.image is None and "image" not in submission.more:
        stated["workdir"] = os.getcwd()
    return {**stated, **submission.more}
