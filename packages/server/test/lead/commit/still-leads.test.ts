// Whether a server leads yet: the log's end is read up to, and neither another's entry there nor an answer that took long will do.
import { type Instant, logIndex, term } from "@lattice/core";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { stillLeads } from "../../../src/lead/commit/still-leads.ts";

const never = new AbortController().signal;

/** Where the log ends, by whose term, and how long it takes to say so. */
function standing({ endsIn = 4, tookMs = 0, head = async () => logIndex(9) }) {
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

test("one whose term the log ends in leads, and so does one that has written nothing yet", async () => {
  expect(await stillLeads(standing({}), never)).toBe(true);
  expect(await stillLeads(standing({ endsIn: 3 }), never)).toBe(true);
});

test("one that finds a later term in the log does not", async () => {
  expect(await stillLeads(standing({ endsIn: 5 }), never)).toBe(false);
});

test("one that was held up, cannot reach the log, or is being stopped cannot know", async () => {
  expect(await stillLeads(standing({ tookMs: 100_000 }), never)).toBe(false);
  expect(await stillLeads(standing({ head: () => Promise.reject(new Error("no answer")) }), never)).toBe(false);
  expect(await stillLeads(standing({}), AbortSignal.abort())).toBe(false);
});
