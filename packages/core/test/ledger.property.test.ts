// Random histories over weeks: at every read the ledger equals a new count of all attempts.

import {
  type AllocationId,
  type Amount,
  applyEntry,
  type Command,
  createState,
  DAY_MS,
  LEDGER_DAYS,
  lastDays,
  NO_USE,
  plus,
  type State,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Bookkeeper, createBookkeeper } from "./support/bookkeeper.ts";
import { entryFor } from "./support/cluster.ts";
import { commandFor, dice, SET_UP } from "./support/history.ts";

const RUNS = 150;
/** Without bias: small numbers would choose the same commands over and over. */
const seeds = fc.noBias(fc.array(fc.integer(), { minLength: 40, maxLength: 120, size: "max" }));

describe("the ledger", () => {
  it("equals a separate bookkeeping of all attempts", () => {
    let ended = 0;
    let looks = 0;
    fc.assert(
      fc.property(seeds, (history) => {
        const state = createState();
        const books = createBookkeeper(state);
        const past: Command[] = [];
        const charges = new Map<AllocationId, Amount>();
        let at = 0;
        const apply = (command: Command): void => {
          applyEntry(state, entryFor(state, at, [command]));
          books.look();
        };
        for (const command of SET_UP) apply(withGpus(command, 4));
        for (const seed of history) {
          const roll = dice(~seed);
          // Minutes, sometimes hours, now and then weeks.
          at += roll(30) === 0 ? roll(20) * DAY_MS : roll(5) === 0 ? roll(30) * 3_600_000 : roll(600_000);
          const command = withGpus(commandFor(seed, state, past), roll(9));
          past.push(command);
          apply(command);
          collectCharges(state, charges);
          if (roll(6) > 0) continue;
          compare(state, books, at + roll(2) * roll(DAY_MS));
          looks += 1;
        }
        expect(sum([...charges.values()])).toEqual(books.total());
        ended += books.ended;
      }),
      { numRuns: RUNS },
    );
    // A history in which nothing ends proves nothing.
    expect(ended).toBeGreaterThan(120);
    expect(looks).toBeGreaterThan(800);
  }, 600_000);
});

/** Finished records leave the state, so the newest value of each is kept. */
function collectCharges(state: State, charges: Map<AllocationId, Amount>): void {
  for (const { id, charged } of state.allocations()) charges.set(id, charged);
}

const sum = (amounts: readonly Amount[]): Amount => amounts.reduce(plus, NO_USE);

function compare(state: State, books: Bookkeeper, now: number): void {
  const window = lastDays(now as never, LEDGER_DAYS);
  const tenants = state.ledger.tenants();
  for (const holder of [{}, ...tenants.map((tenant) => ({ tenant }))]) {
    let nodeMs = 0;
    let gpuMs = 0;
    const days = state.ledger.days(holder, window);
    for (const [n, truth] of books.days(holder, window).entries()) {
      const day = days[n];
      if (day?.nodeMs !== truth.nodeMs || day.gpuMs !== truth.gpuMs) {
        throw new Error(`of ${JSON.stringify(holder)}: ${JSON.stringify([day, truth])}`);
      }
      nodeMs += truth.nodeMs;
      gpuMs += truth.gpuMs;
    }
    const spent = state.ledger.spent(holder, window);
    if (spent.nodeMs !== nodeMs || spent.gpuMs !== gpuMs) throw new Error(`the window of ${JSON.stringify(holder)}`);
  }
}

/** Nodes that register again may have other GPUs, also while something runs there. */
function withGpus(command: Command, gpuCount: number): Command {
  if (command.kind !== "node.register") return command;
  return { ...command, capabilities: { ...command.capabilities, gpuCount } };
}
