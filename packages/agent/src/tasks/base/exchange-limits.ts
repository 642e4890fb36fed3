// Limits of what the ranks of a launch may exchange. Ranks are programs of users: without limits one of them could fill
// the memory of the agent, or build a message that no server takes. A launch beyond a limit ends with the reason.

import type { PmiEntry } from "./name-types.ts";

const MIB = 1024 * 1024;

/** Announced to ranks (PMI's keylen_max and vallen_max). */
export const MAX_KEY_LENGTH = 64;
export const MAX_VALUE_LENGTH = 1024;
/** Bytes that the ranks of one node contribute to one fence. They fit into a report. */
export const MAX_NODE_FENCE_BYTES = 6 * MIB;
/** A server takes messages of 8 MiB. */
export const MAX_REPORT_BYTES = 7 * MIB;
/** Bytes that all nodes contribute to one fence: every node receives them in one order. */
export const MAX_FENCE_BYTES = 32 * MIB;
export const MAX_ORDER_BYTES = MAX_FENCE_BYTES + MIB;
/** The values that a node keeps for the ranks of one launch. */
export const MAX_LAUNCH_BYTES = 64 * MIB;
/** Names with their values, in one request. */
export const MAX_NAMES_BYTES = 64 * 1024;

/** Returns the size in a report, where unusual characters are longer. */
export const entryBytes = (entry: PmiEntry): number => Buffer.byteLength(JSON.stringify(entry)) + 1;

export const entriesBytes = (entries: readonly PmiEntry[]): number =>
  entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
