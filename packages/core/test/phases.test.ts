// Each builder of the test support builds the phase of its name.

import { isQueued } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { id } from "./support/cluster.ts";
import { type PhaseName, phaseBuilders } from "./support/phases.ts";

const names = Object.keys(phaseBuilders) as readonly PhaseName[];

describe("a builder of phases", () => {
  it.each(names)("builds allocation 1 as %s", (name) => {
    const c = phaseBuilders[name]();
    const record = c.state.allocation(id(1));
    const waits = { held: "pending", blocked: "pending", backoff: "pending" } as const;
    expect(record?.phase.kind).toBe(name in waits ? "pending" : name);
    expect(record === undefined ? null : isQueued(record)).toBe(name === "pending");
    expect(c.claims("n1")).toEqual(["staging", "running", "checkpointing"].includes(name) ? ["1/1"] : []);
  });
});
