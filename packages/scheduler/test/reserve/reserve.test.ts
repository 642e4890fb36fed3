// The earliest start and the nodes of an allocation that cannot start now.

import { describe, expect, it } from "vitest";
import { WALLTIME_GRACE } from "../../src/base/bounds.ts";
import { toJob } from "../../src/fit/job.ts";
import type { CycleInput } from "../../src/input/cycle-input.ts";
import { machineOf } from "../../src/machine/machine.ts";
import { createPlanBuffers } from "../../src/machine/plan-buffers.ts";
import { createDraft } from "../../src/plan/draft.ts";
import type { PlannedReservation } from "../../src/plan/planned-reservation.ts";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { spareOf } from "../../src/reserve/spare.ts";
import { draftOf, jobFrom } from "../drafts.ts";
import { busy, input, type JobFields, job, MINUTE, NOW, node, nodeIds, release } from "../make.ts";

/** Reserves one after the other; each as "minutes from now: nodes". */
function reserveAll(given: CycleInput, jobs: readonly JobFields[]): (string | null)[] {
  const draft = createDraft(machineOf(given), given, { buffers: createPlanBuffers(given.nodes.length), movesLeft: 0 });
  return jobs.map((fields, i) => {
    const held = findReservation(draft, toJob(draft.machine, job(i + 1, fields)));
    if (held === null) return null;
    addReservation(draft, held);
    return told(held, draft.machine.nodes);
  });
}

const told = (held: PlannedReservation, nodes: CycleInput["nodes"]): string =>
  `${(held.startsAt - NOW) / MINUTE}: ${held.nodes.map((index) => nodes[index]?.id).join(" ")}`;

const three = {
  nodes: [busy("a"), busy("b"), busy("c")],
  releases: [release(10, "a"), release(20, "b"), release(30, "c")],
};
const grace = WALLTIME_GRACE / MINUTE;

describe("reserve", () => {
  const cases: { name: string; given: Partial<CycleInput>; jobs: JobFields[]; expected: (string | null)[] }[] = [
    { name: "one node: the first to be released", given: three, jobs: [{}], expected: ["10: a"] },
    { name: "two nodes: at the second release", given: three, jobs: [{ nodes: 2 }], expected: ["20: a b"] },
    {
      name: "takes the nodes released last, to leave free nodes open",
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
      name: "never: an unbounded allocation occupies one",
      given: { ...three, releases: [release(10, "a"), release(20, "b"), release(null, "c")] },
      jobs: [{ nodes: 3 }],
      expected: [null],
    },
    {
      name: "a busy node without a known release is not used",
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
      name: "fewest groups among the nodes released by then",
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

describe("a search for a reservation", () => {
  it.each([
    { by: "count", hasForeignReservations: false },
    { by: "sweep", hasForeignReservations: true },
  ])("by $by finds only starts before its bound", ({ hasForeignReservations }) => {
    const draft = draftOf(three);
    draft.hasForeignReservations = hasForeignReservations;
    const search = (before: number) => findReservation(draft, jobFrom(draft, 1, { nodes: 2 }), before)?.startsAt;
    const second = NOW + 20 * MINUTE;
    expect([search(second), search(second + 1)]).toEqual([undefined, second]);
  });

  it("continues beyond the number of choices that the search by count makes", () => {
    // Each of 80 groups gets its only node at another time; the pair of nodes comes last.
    const single = Array.from({ length: 80 }, (_, i) => `s${i}`);
    const given = {
      nodes: [...single.map((name) => busy(name, { in: name })), busy("x", { in: "pair" }), busy("y", { in: "pair" })],
      releases: [...single.map((name, i) => release(i + 1, name)), release(100, "x", "y")],
    };
    const fields = { nodes: 2, constraints: { maxGroups: 1 } };
    expect(reserveAll(input(given), [fields])).toEqual(["100: x y"]);
  });
});

describe("counts of spare nodes", () => {
  it("are the same for many reservations as for few, whatever the order in which they were made", () => {
    const count = 40;
    const names = Array.from({ length: count }, (_, i) => `n${String(i).padStart(2, "0")}`);
    const given = input({
      nodes: [node("z"), ...names.map((name) => busy(name))],
      releases: names.map((name, i) => release(count - i, name)),
    });
    const draft = createDraft(machineOf(given), given, {
      buffers: createPlanBuffers(given.nodes.length),
      movesLeft: 0,
    });
    const last = names.at(-1) ?? "";
    const wanted = [...names.slice(0, -1).map((name) => [name]), ["z", last]];
    for (const [i, required] of wanted.entries()) {
      const fields: JobFields = {
        nodes: required.length,
        minutes: 5,
        constraints: { requiredNodes: nodeIds(...required) },
      };
      const found = findReservation(draft, toJob(draft.machine, job(i + 1, fields)));
      expect(found).not.toBeNull();
      if (found !== null) addReservation(draft, found);
    }
    const spare = spareOf(draft);
    expect([...spare.instants]).toEqual([...spare.instants].sort((a, b) => a - b));
    expect(spare.freeUntil(NOW + MINUTE)).toBe(1);
    expect(spare.freeUntil(NOW + MINUTE + 1)).toBe(0);
  });
});
