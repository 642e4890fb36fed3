// Counts of spare nodes: upper bounds by number alone, and what they rule out for carried-over reservations.

import { instant } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { addReservation, findReservation } from "../../src/reserve/reserve.ts";
import { spareOf } from "../../src/reserve/spare.ts";
import { draftOf, jobFrom } from "../drafts.ts";
import { busy, job, MINUTE, NOW, node, nodeIds, outcomeOf, promise, release } from "../make.ts";

const at = (minutes: number): number => NOW + minutes * MINUTE;

/** Three free nodes, and one each released in 20 and 40 minutes. */
const given = {
  nodes: [node("a"), node("b"), node("c"), busy("d"), busy("e")],
  releases: [release(20, "d"), release(40, "e")],
};

/** Four nodes are reserved from minute 20, five from minute 40. */
function reservedDraft() {
  const draft = draftOf(given);
  for (const [id, nodes, minutes] of [
    [1, 4, 19.5],
    [2, 5, 9.5],
  ] as const) {
    const found = findReservation(draft, jobFrom(draft, id, { nodes, minutes }));
    if (found === null) throw new Error("no reservation");
    addReservation(draft, found);
  }
  return draft;
}

describe("spare nodes", () => {
  it.each([
    { until: 20, expected: 3 },
    { until: 20.5, expected: 0 },
    { until: 41, expected: 0 },
  ])("until minute $until are $expected", ({ until, expected }) => {
    expect(spareOf(reservedDraft()).freeUntil(at(until))).toBe(expected);
  });

  it("are the fewest beside any reservation that starts by then, not beside the first alone", () => {
    const draft = draftOf(given);
    const first = findReservation(draft, jobFrom(draft, 1, { constraints: { requiredNodes: nodeIds("d") } }));
    if (first === null) throw new Error("no reservation");
    addReservation(draft, first);
    const second = findReservation(draft, jobFrom(draft, 2, { nodes: 5, minutes: 9.5 }));
    if (second === null) throw new Error("no reservation");
    addReservation(draft, second);
    const spare = spareOf(draft);
    expect([first.startsAt, second.startsAt]).toEqual([at(20), at(40)]);
    expect([20, 40, 41].map((minutes) => spare.freeUntil(at(minutes)))).toEqual([3, 3, 0]);
    expect(spare.freeUntil(at(41), second)).toBe(3);
  });

  it("rule out a start that the first or a later reservation leaves no nodes for", () => {
    const draft = reservedDraft();
    const spare = spareOf(draft);
    const could = (instantAt: number, nodes: number, minutes: number): boolean =>
      spare.couldStartAt(jobFrom(draft, 9, { nodes, minutes }), spare.instants.indexOf(instantAt));
    expect([...new Set(spare.instants)]).toEqual([at(20), at(40), at(50)]);
    expect([could(at(20), 1, 5), could(at(40), 1, 5), could(at(50), 5, 5), could(at(50), 6, 5)]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("exclude other vClusters' reservations, which end at instants of their own", () => {
    const foreignReservations = [{ startsAt: NOW, endsAt: instant(at(30)), nodes: nodeIds("a") }];
    const machine = { nodes: [node("a"), busy("b")], releases: [release(60, "b")], pending: [job(1, { minutes: 60 })] };
    const previousReservations = [promise(1, 60, "b")];
    expect(outcomeOf({ ...machine, foreignReservations, previousReservations }).held).toEqual(["1@30: a"]);
  });

  it("never rule out an earlier start beside other vClusters' reservations", () => {
    const foreignReservations = [{ startsAt: NOW, endsAt: instant(at(30)), nodes: nodeIds("a") }];
    const machine = {
      nodes: [node("a"), busy("b"), busy("c")],
      releases: [release(20, "b"), release(60, "c")],
      pending: [job(1, { nodes: 2, minutes: 60 })],
    };
    const previousReservations = [promise(1, 60, "b", "c")];
    expect(outcomeOf({ ...machine, foreignReservations, previousReservations }).held).toEqual(["1@30: a b"]);
  });
});
