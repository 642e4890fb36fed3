// The write queue: for any order of appends, flushes and failures, every call is answered correctly, and no record is
// lost or written out of order.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { RecordRow } from "../../../src/state/history/messages.ts";
import { createWriteQueue } from "../../../src/state/history/write-queue.ts";
import { idOf } from "./records.ts";

const row = (n: number): RecordRow => ({
  index: n,
  id: idOf(n),
  user: "ann",
  tenant: "physics",
  vcluster: "batch",
  name: "job",
  state: "completed",
  submitted: 0,
  ended: n,
  json: "{}",
});

/** The turns that a write takes, and whether it fails. */
interface Write {
  readonly turns: number;
  readonly fails: boolean;
}
/** The number of records added at once (0 for a flush), and whether the caller waits for the answer. */
interface Step {
  readonly rows: number;
  readonly waits: boolean;
  readonly turns: number;
}

const BATCH = 3;

const turn = (): Promise<void> => Promise.resolve();
const turnsOf = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await turn();
};

test("an empty flush, an append and a flush resolve", async () => {
  const written: string[] = [];
  const queue = createWriteQueue(async (rows) => void written.push(...rows.map(({ id }) => id)));
  await queue.add([]);
  await queue.add([row(1)]);
  await queue.add([]);
  expect(written).toEqual(["1"]);
});

test("a caller that appends right after an answer is answered again", async () => {
  const queue = createWriteQueue(async () => undefined);
  for (let n = 1; n <= 100; n += 1) {
    await queue.add([row(n)]);
    void queue.add([]).then(() => queue.add([row(1000 + n)]));
    await queue.add([]);
  }
  await queue.add([]);
  expect(queue.size()).toBe(0);
});

test("any order of appends, flushes and failures", async () => {
  let refused = 0;
  const writes = fc.array(fc.record<Write>({ turns: fc.nat(4), fails: fc.boolean() }), { maxLength: 20 });
  const steps = fc.array(fc.record<Step>({ rows: fc.nat(8), waits: fc.boolean(), turns: fc.nat(3) }), {
    minLength: 1,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(writes, steps, async (plan, script) => {
      const disk: string[] = [];
      let calls = 0;
      const queue = createWriteQueue(async (rows) => {
        const { turns, fails } = plan[calls] ?? { turns: 0, fails: false };
        calls += 1;
        await turnsOf(turns);
        if (fails) throw new Error("the disk is full");
        disk.push(...rows.map(({ id }) => id));
      }, BATCH);
      let last = 0;
      const fresh = (count: number): readonly RecordRow[] => {
        last += count;
        return Array.from({ length: count }, (_, n) => row(last - count + n + 1));
      };
      const answers: Promise<void>[] = [];
      for (const step of script) {
        const rows = fresh(step.rows);
        const upTo = last;
        const answer = queue.add(rows).then(
          () => expect(disk.length, "an answer came before the records were written").toBeGreaterThanOrEqual(upTo),
          () => {
            refused += 1;
          },
        );
        answers.push(answer);
        for (const { id } of rows) expect(queue.find(id) !== undefined || disk.includes(id)).toBe(true);
        await (step.waits ? answer : turnsOf(step.turns));
      }
      await Promise.all(answers);
      // The disk works again: one flush suffices after the failing writes are used up.
      while (calls < plan.length) await queue.add(fresh(1)).catch(() => undefined);
      await queue.add([]);
      expect(disk).toEqual(Array.from({ length: last }, (_, n) => String(n + 1)));
      expect(queue.size()).toBe(0);
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(500);
});
