// Which entries and terms a server can compare with what an agent knows, before and after a restart from a snapshot.

import { createHash } from "node:crypto";
import { compareLogs, type LogIndex, logIndex } from "@lattice/core";
import { expect, test } from "vitest";
import { ChainRecord } from "../../../src/state/replica/chain.ts";

const START = { index: logIndex(0), term: 0, hash: "" };
const hashOf = (log: string, index: number): string => createHash("sha256").update(`${log} ${index}`).digest("hex");

interface Part {
  readonly to: number;
  readonly term: number;
  readonly log?: string;
}

/** Appends entries up to each part's end. */
function written(chain: ChainRecord, ...parts: readonly Part[]): ChainRecord {
  for (const { to, term, log = "a" } of parts)
    for (let n = chain.last().index + 1; n <= to; n += 1) chain.append(logIndex(n), term, hashOf(log, n));
  return chain;
}
const fresh = (...parts: readonly Part[]): ChainRecord => written(new ChainRecord(START), ...parts);

/** As after a restart from the snapshot of the last entry. */
function restarted(chain: ChainRecord, term: number, log = "a"): ChainRecord {
  const index = chain.last().index as LogIndex;
  return new ChainRecord({ index, term, hash: hashOf(log, index), terms: chain.terms() });
}

test("an entry that both logs hold is the same, and one after the fork differs", () => {
  const trunk: Part = { to: 10, term: 1 };
  const own = fresh(trunk, { to: 40, term: 2 });
  const other = fresh(trunk, { to: 60, term: 2, log: "b" });
  const verdicts = [1, 10, 11, 40].map((index) => compareLogs(own.at(index), other.at(index)));
  expect(verdicts).toEqual(["same", "same", "different", "different"]);
});

test("an entry of the same term that was written twice differs", () => {
  const own = fresh({ to: 10, term: 1 }, { to: 20, term: 1, log: "b" });
  const other = fresh({ to: 30, term: 1 });
  expect(compareLogs(own.at(20), other.at(20))).toBe("different");
  expect(compareLogs(own.at(10), other.at(10))).toBe("same");
});

test("a server that restarted from a later snapshot still knows the terms before it", () => {
  const known = fresh({ to: 10, term: 1 }, { to: 40, term: 2 }).at(30);
  const same = restarted(fresh({ to: 10, term: 1 }, { to: 900, term: 2 }), 2);
  const forked = restarted(fresh({ to: 10, term: 1 }, { to: 900, term: 3, log: "b" }), 3, "b");
  expect(same.at(30).hash).toBe("");
  expect([compareLogs(known, same.at(30)), compareLogs(known, forked.at(30))]).toEqual(["same", "different"]);
});

test("the entry of the snapshot itself is compared", () => {
  const known = fresh({ to: 40, term: 1 }).last();
  const forked = restarted(fresh({ to: 30, term: 1 }, { to: 40, term: 1, log: "b" }), 1, "b");
  expect(compareLogs(known, forked.at(40))).toBe("different");
});

test("the hashes of old entries and the oldest terms are given up", () => {
  const chain = fresh({ to: 20_000, term: 1 });
  expect(chain.at(20_000 - 16_384)).toMatchObject({ hash: "", keptFrom: 1 });
  expect(chain.at(20_000 - 16_383).hash).toBe(hashOf("a", 20_000 - 16_383).slice(0, 16));
  for (let term = 2; term <= 600; term += 1) written(chain, { to: 20_000 + term, term });
  const old = chain.at(10);
  expect(old).toEqual({ index: 10, hash: "", termHash: "", keptFrom: 20_089 });
  expect(compareLogs(fresh({ to: 10, term: 1 }).last(), old)).toBe("same");
});

test("an entry that the log does not have is unproven, and an empty log proves nothing", () => {
  const known = fresh({ to: 40, term: 1 }).last();
  expect(compareLogs(known, fresh({ to: 39, term: 1 }).at(40))).toBe("unproven");
  expect(compareLogs(known, new ChainRecord(START).at(40))).toBe("unproven");
  expect(compareLogs(new ChainRecord(START).last(), fresh({ to: 5, term: 1 }).at(0))).toBe("same");
});
