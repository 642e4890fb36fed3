// How long a checkpoint is waited for: as tables.

import { describe, expect, it } from "vitest";
import { deferBy, judge, patienceFrom, seenAlive } from "../../src/checkpoint/patience.ts";

const wanted = { number: 1, thenStop: true, timeoutMs: 1_000, maxDeferralMs: 300 };

describe("the deadline of a checkpoint", () => {
  it("a silent program gets the timeout only", () => {
    const patience = patienceFrom(wanted, 0);
    expect(judge(patience, wanted, 999).kind).toBe("wait");
    expect(judge(patience, wanted, 1_000)).toEqual({
      kind: "give_up",
      message: "the program did not answer within 1 s",
    });
  });

  it("progress extends the deadline by half, once", () => {
    const first = judge(seenAlive(patienceFrom(wanted, 0)), wanted, 1_000);
    expect(first).toMatchObject({ kind: "wait", patience: { deadlineMs: 1_500, extended: true } });
    if (first.kind !== "wait") return;
    expect(judge(first.patience, wanted, 1_499).kind).toBe("wait");
    expect(judge(first.patience, wanted, 1_500)).toMatchObject({ message: expect.stringContaining("half as long") });
  });

  it("a deferral is granted up to the total limit", () => {
    const once = deferBy(patienceFrom(wanted, 0), 200, wanted);
    expect(once).toMatchObject({ deadlineMs: 1_200, deferredMs: 200, alive: true });
    const twice = deferBy(once, 200, wanted);
    expect(twice).toMatchObject({ deadlineMs: 1_300, deferredMs: 300 });
    expect(deferBy(twice, 200, wanted)).toEqual(twice);
  });
});
