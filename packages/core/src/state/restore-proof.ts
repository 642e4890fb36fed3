// Proves that a restored state is the one its writer had, in steps while the state is already in use. Records are
// immutable, so the restored ones can be hashed after others have replaced them; hashes of records that are still
// current also serve the state's own hash.

import { hashOfParts } from "./hash.ts";
import { createHashSum, type HashSum } from "./hash-sum.ts";
import { TABLE_NAMES, type TableName } from "./snapshot.ts";
import type { State } from "./state.ts";
import type { HashText, Table } from "./table.ts";

export interface RestoreProof {
  /** Hashes up to `limit` further records. Returns `true` while some are left; throws when the final hash differs. */
  step(limit: number): boolean;
}

/** Must be called before the state changes. */
export function proveRestored(state: State, expected: string, hash: HashText, doubt: () => Error): RestoreProof {
  const { index, at, version, retention, counters } = state;
  const position = { index, at, version, retention, counters: { ...counters } };
  const captured = TABLE_NAMES.map((name) => capture(state, name));
  const sumOf = new Map(captured.map(({ name, sum, records }) => [name, { sum, size: records.length }]));
  let table = 0;
  let next = 0;
  let right: boolean | null = null;

  function judge(): boolean {
    const actual = hashOfParts(
      {
        position,
        size: (name) => sumOf.get(name)?.size ?? 0,
        digest: (name) => sumOf.get(name)?.sum.text() ?? "",
      },
      hash,
    );
    return actual === expected;
  }

  /** Throws every time after a mismatch. */
  function conclude(): false {
    right ??= judge();
    captured.length = 0;
    if (!right) throw doubt();
    return false;
  }

  return {
    step(limit) {
      for (let left = limit; left > 0; ) {
        const current = captured[table];
        if (current === undefined) return conclude();
        const end = Math.min(current.records.length, next + left);
        for (let n = next; n < end; n += 1) current.add(n, hash);
        left -= end - next;
        next = end;
        if (end < current.records.length) return true;
        table += 1;
        next = 0;
      }
      return captured[table] === undefined ? conclude() : true;
    },
  };
}

interface Captured {
  readonly name: TableName;
  readonly sum: HashSum;
  readonly records: readonly unknown[];
  add(n: number, hash: HashText): void;
}

function capture(state: State, name: TableName): Captured {
  const table = state.tables[name] as unknown as Table<string, unknown>;
  const sum = createHashSum();
  const records = [...table.entries()];
  return {
    name,
    sum,
    records,
    add(n, hash) {
      const pair = records[n];
      if (pair !== undefined) sum.add(table.hashFor(pair[0], pair[1], hash));
    },
  };
}
