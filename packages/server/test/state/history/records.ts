// Finished allocations for tests of history.

import {
  type Allocation,
  type AllocationId,
  attempt,
  instant,
  logIndex,
  minimalSpec,
  newAllocation,
  type TenantId,
  type UserName,
  type VClusterId,
} from "@lattice/core";
import type { HistoryRecord } from "../../../src/state/history/index.ts";

export const idOf = (text: string | number): AllocationId => String(text) as AllocationId;

export interface About {
  readonly user?: string;
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly name?: string;
  readonly state?: "completed" | "failed" | "cancelled";
}

export function finished(id: string | number, about: About = {}): HistoryRecord {
  return { index: logIndex(7), record: allocation(idOf(id), about) };
}

function allocation(id: AllocationId, about: About): Allocation {
  const ended = { nodes: [], startedAt: instant(2000), endedAt: instant(3000), exitCode: 0, message: "" };
  const spec = minimalSpec({
    tenant: (about.tenant ?? "physics") as TenantId,
    vcluster: (about.vcluster ?? "hpc-batch") as VClusterId,
    name: about.name ?? `job, "quoted" ✓ ${id}`,
    tags: { note: "line\nbreak" },
    task: { kind: "entrypoint", line: "echo hello" },
    lifecycle: { maxRequeue: 3 },
  });
  const given = { id, user: (about.user ?? "ann") as UserName, spec, submittedAt: instant(1000) };
  return {
    ...newAllocation(given, { at: instant(1000), index: logIndex(3) }),
    phase: phase(about.state ?? "completed", ended),
    attempt: attempt(1),
    scores: { priority: 500 },
  };
}

type Ended = Omit<Extract<Allocation["phase"], { kind: "completed" }>, "kind">;

function phase(state: "completed" | "failed" | "cancelled", ended: Ended): Allocation["phase"] {
  switch (state) {
    case "completed":
      return { kind: "completed", ...ended };
    case "failed":
      return { kind: "failed", reason: "exit_code", ...ended };
    case "cancelled":
      return { kind: "cancelled", by: "ann" as UserName, reason: "", ...ended };
  }
}
