// The leadership check: reads to the end of the log; an entry of a later term or a late answer means no.
import { type Instant, logIndex, term } from "@lattice/core";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { stillLeads } from "../../../src/lead/commit/still-leads.ts";

const never = new AbortController().signal;

/** A log with its end, the term of its last entry, and the time of an answer. */
function check({ endsIn = 4, tookMs = 0, head = async () => logIndex(9) }) {
  let at = 0;
  let applied = { index: logIndex(7), term: term(4), hash: "", at: 0 as Instant };
  const clock = { ...systemClock, worked: () => at } as Clock;
  const replica = {
    head: () => applied,
    async waitFor(index: typeof applied.index) {
      at += tookMs;
      applied = { ...applied, index, term: term(endsIn) };
    },
  };
  return { log: { head }, replica, term: term(4), clock };
}

test("a server leads while the log ends in its term or in an earlier one", async () => {
  expect(await stillLeads(check({}), never)).toBe(true);
  expect(await stillLeads(check({ endsIn: 3 }), never)).toBe(true);
});

test("a server that finds a later term in the log does not lead", async () => {
  expect(await stillLeads(check({ endsIn: 5 }), never)).toBe(false);
});

test("the answer is no when it comes late, the log is unreachable, or the server stops", async () => {
  expect(await stillLeads(check({ tookMs: 100_000 }), never)).toBe(false);
  expect(await stillLeads(check({ head: () => Promise.reject(new Error("no answer")) }), never)).toBe(false);
  expect(await stillLeads(check({}), AbortSignal.abort())).toBe(false);
});
