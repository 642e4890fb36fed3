// A restore in progress: the text of a snapshot, carried through the log in pieces and kept in the state until all of
// it has arrived. It is replicated, hashed and part of snapshots like everything else, so that a new leader can continue
// it. Piece 0 holds the id of the restore and its progress.

import type { Outcome } from "../../base/outcome.ts";
import { quote, refuse } from "../../base/outcome.ts";
import type { State } from "../../state/state.ts";

/** All pieces together, in characters. A state larger than this does not travel through the log. */
export const MAX_STAGED_LENGTH = 1024 * 1024 * 1024;
/** Of one piece; with room for escapes it stays well below what one entry may hold. */
export const MAX_PIECE_LENGTH = 512 * 1024;
export const MAX_RESTORE_NAME_LENGTH = 128;

export function stagedRestore(state: State): { readonly restore: string; readonly committed: boolean } | null {
  return state.tables.staging.get("0") ?? null;
}

export function discardStaging(state: State): void {
  for (const key of [...state.tables.staging.keys()]) state.tables.staging.delete(key);
}

/** The lines of the snapshot, put together again. */
export function* stagedLines(state: State): Generator<string, void, undefined> {
  let rest = "";
  for (let n = 1; n < state.tables.staging.size; n += 1) {
    const lines = (rest + (state.tables.staging.get(String(n))?.text ?? "")).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

export const noSuchRestore = (restore: string): Outcome =>
  refuse("illegal_transition", `the restore ${quote(restore)} is not in progress; another may have started`);
