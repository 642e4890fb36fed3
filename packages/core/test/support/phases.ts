// Allocation 1 in every phase and kind of waiting, on node n1 where it is placed. Tables of commands go through them.

import { type Command, duration } from "@lattice/core";
import { type Cluster, cancel, createCluster, hold, id, nodeId, register, submit } from "./cluster.ts";

export type PhaseName =
  | "pending"
  | "held"
  | "blocked"
  | "backoff"
  | "staging"
  | "running"
  | "checkpointing"
  | "suspended"
  | "completed"
  | "failed"
  | "cancelled";

const withCheckpoints = submit({ checkpoint: {}, lifecycle: { requeuePolicy: "always", maxRequeue: 9 } });

function waiting(...more: readonly Command[]): Cluster {
  const c = createCluster(register("n1"), register("n2"), ...more);
  c.apply(withCheckpoints);
  return c;
}

function placed(): Cluster {
  const c = waiting();
  c.place(1, "n1");
  return c;
}

function running(): Cluster {
  const c = placed();
  c.advance(1000);
  c.report(1, "n1", "running");
  return c;
}

function then(c: Cluster, ...steps: readonly ((c: Cluster) => unknown)[]): Cluster {
  for (const step of steps) step(c);
  return c;
}

/** A service restarts after a backoff. */
function inBackoff(): Cluster {
  const c = createCluster(register("n1"), register("n2"));
  c.apply(submit({ lifecycle: { kind: "unbounded", walltime: null, requeuePolicy: "always", maxRequeue: 9 } }));
  c.place(1, "n1");
  c.report(1, "n1", "running");
  c.report(1, "n1", "failed");
  return c;
}

/** Allocation 1 was on hold while allocation 2 took the mutex that both want. */
function blocked(): Cluster {
  const c = createCluster(register("n1"), register("n2"));
  c.apply({ ...submit({ after: ["lock:mutex"] }), hold: true } as Command, submit({ after: ["lock:mutex"] }));
  c.apply(hold(1, false));
  return c;
}

/** Its walltime was over when its checkpoint was complete: it stays suspended until a user resumes it. */
function suspended(): Cluster {
  const c = running();
  c.apply({
    kind: "allocation.checkpoint",
    origin: { user: "ada" as never, requestId: null, bodyHash: "" },
    id: id(1),
  });
  c.apply({
    kind: "attempt.report",
    node: nodeId("n1"),
    allocation: id(1),
    attempt: 1 as never,
    state: "failed",
    exitCode: null,
    reason: "walltime_exceeded",
    message: "",
    checkpoint: { n: 1, ok: true, bytes: 5, message: "" },
  });
  c.report(1, "n1", "failed", "walltime_exceeded");
  return c;
}

export const phaseBuilders: Readonly<Record<PhaseName, () => Cluster>> = {
  pending: waiting,
  held: () => then(waiting(), (c) => c.apply(hold(1))),
  blocked,
  backoff: inBackoff,
  staging: placed,
  running,
  checkpointing: () =>
    then(running(), (c) =>
      c.apply({
        kind: "attempt.checkpoint",
        allocation: id(1),
        attempt: 1 as never,
        cause: "broker",
        message: "it pays",
      }),
    ),
  suspended,
  completed: () => then(running(), (c) => c.report(1, "n1", "completed")),
  failed: () =>
    then(running(), (c) => {
      c.advance(duration(3_600_000));
      c.apply({ kind: "attempt.expire", allocation: id(1), attempt: 1 as never });
      c.report(1, "n1", "failed", "walltime_exceeded");
    }),
  cancelled: () => then(waiting(), (c) => c.apply(cancel(1))),
};
