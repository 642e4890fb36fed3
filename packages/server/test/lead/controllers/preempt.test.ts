// Preemptions of a cycle: one command each, counted when accepted.

import {
  type AllocationId,
  attempt,
  type Command,
  instant,
  logIndex,
  type NodeId,
  type VClusterId,
} from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import pino from "pino";
import { expect, it } from "vitest";
import { carryOutPreemptions } from "../../../src/lead/controllers/preempt/act.ts";
import { decidePreemptions } from "../../../src/lead/controllers/preempt/decide.ts";

const id = (n: number): AllocationId => String(n) as AllocationId;

const result: CycleResult = {
  vcluster: "hpc-batch" as VClusterId,
  basis: logIndex(7),
  placements: [],
  reservations: [],
  preemptions: [1, 2].map((n) => ({
    allocation: id(n),
    victims: [{ allocation: id(10 + n), attempt: attempt(3), reason: "reclaim" as const }],
    nodes: [`n${n}` as NodeId],
    startsAt: instant(0),
  })),
  reasons: new Map(),
  estimates: new Map(),
  scores: new Map(),
  considered: 0,
};

it("is one command per starting allocation", () => {
  expect(decidePreemptions(result)[1]).toEqual({
    kind: "allocation.preempt",
    allocation: "2",
    basis: 7,
    victims: [{ allocation: "12", attempt: 3 }],
    nodes: ["n2"],
  });
});

it("counts accepted preemptions by the victim's vCluster, and continues after a rejection", async () => {
  const proposed: Command[] = [];
  const counted: string[] = [];
  await carryOutPreemptions(
    {
      replica: { view: { allocation: () => ({ spec: { vcluster: "service" } }) } as never },
      sequencer: {
        propose: async (command) => {
          proposed.push(command);
          const refusal = { code: "stale_plan" as const, detail: "" };
          const outcome =
            proposed.length === 1 ? ({ kind: "rejected", refusal } as const) : ({ kind: "accepted", id: "2" } as const);
          return { outcome, index: logIndex(8) };
        },
        close: async () => undefined,
      },
      logger: pino({ level: "silent" }),
      onPreempted: (vcluster, reason) => counted.push(`${vcluster} ${reason}`),
    },
    result,
  );
  expect(proposed).toHaveLength(2);
  expect(counted).toEqual(["service reclaim"]);
});
