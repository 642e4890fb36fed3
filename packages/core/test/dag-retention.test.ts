// How long a DAG that has ended is known: as long as one of its members is, and never fewer than a thousand.

import { type Command, duration } from "@lattice/core";
import { expect, it } from "vitest";
import { createCluster, origin, register, submitDag } from "./support/cluster.ts";

it("DAGs beyond a thousand are kept while their members are in the state, and dropped afterwards", () => {
  const c = createCluster(register("n1"));
  const many = 1_010;
  c.apply(...Array.from({ length: many }, () => submitDag({ a: {} })));
  const cancel = (id: string): Command => ({ kind: "dag.cancel", origin: origin(), id: id as never, reason: "" });
  c.apply(...Array.from(c.state.dags(), ({ id }) => cancel(id)));
  expect([...c.state.dags()].every(({ endedAt }) => endedAt !== null)).toBe(true);
  expect([...c.state.dags()]).toHaveLength(many);
  c.apply({ kind: "retention.set", maxFinished: 0, maxFinishedAge: duration(1) });
  c.apply(submitDag({ a: {} }));
  c.apply(cancel([...c.state.dags()].at(-1)?.id ?? ""));
  expect([...c.state.dags()]).toHaveLength(1_000);
});
