// Sessions: terminals in an allocation. They are part of the allocation's record, because they cannot outlive it. An
// allocation created for a session has it from the start, as number 1, and ends with it.

import { type AllocationId, type Instant, parseAllocationId, type UserName } from "../../base/ids.ts";

export interface Session {
  /** Unique within its allocation, from 1 on. */
  readonly n: number;
  readonly user: UserName;
  readonly openedAt: Instant;
}

/** Open terminals per allocation; more indicate a runaway program. */
export const MAX_SESSIONS = 64;

/** The session that the allocation was created for. */
export const OWN_SESSION = 1;

/** "12345.1" */
export const sessionId = (allocation: AllocationId, n: number): string => `${allocation}.${n}`;

export function parseSessionId(text: string): { readonly allocation: AllocationId; readonly n: number } | null {
  const at = text.lastIndexOf(".");
  const allocation = parseAllocationId(text.slice(0, Math.max(0, at)));
  return allocation !== null && /^[1-9][0-9]{0,5}$/.test(text.slice(at + 1))
    ? { allocation, n: Number(text.slice(at + 1)) }
    : null;
}
