// When and where an allocation that cannot start now is promised its nodes.

import { describe, expect, it } from "vitest";
import type { CycleInput } from "../src/cycle-types.ts";
import { draftOf, type Held } from "../src/draft.ts";
import { jobOf } from "../src/job.ts";
import { WALLTIME_GRACE } from "../src/limits.ts";
import { machineOf } from "../src/machine/machine.ts";
import { hold, reserve } from "../src/reserve.ts";
import { createSpace } from "../src/space.ts";
import { busy, input, type JobFields, job, MINUTE, NOW, node, nodeIds, release } from "./make.ts";

/** Reserves one after the other; each as "minutes from now: nodes". */
function reserveAll(given: CycleInput, jobs: readonly JobFields[]): (string | null)[] {
  const draft = draftOf(machineOf(given), given, { space: createSpace(given.nodes.length), movesLeft: 0 });
  return jobs.map((fields, i) => {
    const held = reserve(draft, jobOf(draft.machine, job(i + 1, fields)));
    if (held === null) return null;
    hold(draft, held);
    return told(held, draft.machine.nodes);
  });
}

const told = (held: Held, nodes: CycleInput["nodes"]): string =>
  `${(held.startsAt - NOW) / MINUTE}: ${held.nodes.map((index) => nodes[index]?.id).join(" ")}`;

const three = {
  nodes: [busy("a"), busy("b"), busy("c")],
  releases: [release(10, "a"), release(20, "b"), release(30, "c")],
};
const grace = WALLTIME_GRACE / MINUTE;

describe("reserve", () => {
  const cases: { name: string; given: Partial<CycleInput>; jobs: JobFields[]; expected: (string | null)[] }[] = [
    { name: "one node: the first to come back", given: three, jobs: [{}], expected: ["10: a"] },
    { name: "two nodes: when the second comes back", given: three, jobs: [{ nodes: 2 }], expected: ["20: a b"] },
    {
      name: "holds what comes back last, to leave free nodes open",
      given: { nodes: [node("a"), node("b"), busy("c"), busy("d")], releases: [release(10, "c", "d")] },
      jobs: [{ nodes: 3 }],
      expected: ["10: a c d"],
    },
    { name: "a range asks for its minimum", given: three, jobs: [{ nodes: 1, max: 3 }], expected: ["10: a"] },
    {
      name: "a required node decides",
      given: three,
      jobs: [{ constraints: { requiredNodes: nodeIds("c") } }],
      expected: ["30: c"],
    },
    {
      name: "an excluded node does not count",
      given: three,
      jobs: [{ constraints: { excludedNodes: nodeIds("a") } }],
      expected: ["20: b"],
    },
    { name: "never: too few nodes", given: three, jobs: [{ nodes: 4 }], expected: [null] },
    {
      name: "never: an unbounded allocation holds one",
      given: { ...three, releases: [release(10, "a"), release(20, "b"), release(null, "c")] },
      jobs: [{ nodes: 3 }],
      expected: [null],
    },
    {
      name: "a busy node without a known release is not planned with",
      given: { nodes: [busy("a"), busy("b")], releases: [release(10, "a")] },
      jobs: [{ nodes: 2 }],
      expected: [null],
    },
    {
      name: "an overdue release is expected soon",
      given: { nodes: [busy("a")], releases: [release(-5, "a")] },
      jobs: [{}],
      expected: ["0.5: a"],
    },
    {
      name: "the second goes around the first",
      given: three,
      jobs: [
        { nodes: 2, minutes: 10 },
        { nodes: 1, minutes: 5 },
      ],
      expected: ["20: a b", "10: a"],
    },
    {
      name: "the second does not fit before the first, so after it",
      given: { nodes: [busy("a"), busy("b")], releases: [release(10, "a"), release(20, "b")] },
      jobs: [
        { nodes: 2, minutes: 10 },
        { nodes: 1, minutes: 15 },
      ],
      expected: ["20: a b", `${30 + grace}: b`],
    },
    {
      name: "nothing comes after an unbounded one",
      given: { nodes: [busy("a")], releases: [release(10, "a")] },
      jobs: [{ minutes: null }, {}],
      expected: ["10: a", null],
    },
    {
      name: "fewest groups among what is back by then",
      given: {
        nodes: [busy("a", { in: "g1" }), busy("b", { in: "g2" }), busy("c", { in: "g2" })],
        releases: [release(10, "a", "b", "c")],
      },
      jobs: [{ nodes: 2 }],
      expected: ["10: b c"],
    },
  ];
  it.each(cases)("$name", ({ given, jobs, expected }) => {
    expect(reserveAll(input(given), jobs)).toEqual(expected);
  });
});
