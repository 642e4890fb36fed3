// Identifiers, instants and durations as branded types, so that values of different meaning cannot be swapped. They are
// parsed once at the border (`wire`); inside, a value of such a type is well formed.

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** Decimal integer given by the log ("12345"), or "12345_7" for a task-group element. */
export type AllocationId = Brand<string, "AllocationId">;
export type NodeId = Brand<string, "NodeId">;
export type TenantId = Brand<string, "TenantId">;
export type VClusterId = Brand<string, "VClusterId">;
export type UserName = Brand<string, "UserName">;
/** Topology group (dragonfly group) of a node. */
export type GroupId = Brand<string, "GroupId">;
/** "dag-789", numbered by the same counter as allocations. */
export type DagId = Brand<string, "DagId">;

/** Milliseconds since 1970, an integer, stamped by the leader. */
export type Instant = Brand<number, "Instant">;
/** Milliseconds, an integer. */
export type Duration = Brand<number, "Duration">;
/** Position of an entry in the log; the first entry has index 1, 0 means "before everything". */
export type LogIndex = Brand<number, "LogIndex">;
/** Number of the leader of a log; an entry carries the term of the leader that wrote it. */
export type Term = Brand<number, "Term">;
/** The number of a placement of an allocation: 1, 2, ...; 0 before the first placement. */
export type Attempt = Brand<number, "Attempt">;

const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i;
const ALLOCATION_ID = /^[1-9][0-9]{0,14}(_[0-9]{1,9})?$/;
const DAG_ID = /^dag-[1-9][0-9]{0,14}$/;
const USER = /^[^\s\u0000-\u001f/:]{1,128}$/u;

export const parseAllocationId = (text: string): AllocationId | null =>
  ALLOCATION_ID.test(text) ? (text as AllocationId) : null;
export const parseDagId = (text: string): DagId | null => (DAG_ID.test(text) ? (text as DagId) : null);
export const parseNodeId = (text: string): NodeId | null => (NAME.test(text) ? (text as NodeId) : null);
export const parseTenantId = (text: string): TenantId | null => (NAME.test(text) ? (text as TenantId) : null);
export const parseVClusterId = (text: string): VClusterId | null => (NAME.test(text) ? (text as VClusterId) : null);
export const parseUserName = (text: string): UserName | null => (USER.test(text) ? (text as UserName) : null);
export const parseGroupId = (text: string): GroupId | null => (NAME.test(text) ? (text as GroupId) : null);

export const instant = (ms: number): Instant => whole(ms) as Instant;
export const duration = (ms: number): Duration => whole(ms) as Duration;
export const seconds = (s: number): Duration => whole(s * 1000) as Duration;
export const logIndex = (n: number): LogIndex => whole(n) as LogIndex;
export const term = (n: number): Term => whole(n) as Term;
export const attempt = (n: number): Attempt => whole(n) as Attempt;

export const after = (start: Instant, length: Duration): Instant => (start + length) as Instant;
export const between = (from: Instant, to: Instant): Duration => Math.max(0, to - from) as Duration;

export const NO_ATTEMPT: Attempt = attempt(0);
export const nextAttempt = (last: Attempt): Attempt => attempt(last + 1);

/** The user name of actions that no person requested. */
export const SYSTEM_USER = "system" as UserName;
/** The user name where the state does not keep who acted. */
export const UNKNOWN_USER = "" as UserName;
/** The user name under which the ledger sums users beyond its limit. */
export const OTHER_USERS = "" as UserName;
/** The tenant and the vCluster of submissions that name none. */
export const DEFAULT_TENANT = "default" as TenantId;
export const DEFAULT_VCLUSTER = "batch" as VClusterId;

/** Ids from the counter of the log. */
export const allocationIdOf = (n: number): AllocationId => String(whole(n)) as AllocationId;
export const dagIdOf = (n: number): DagId => `dag-${whole(n)}` as DagId;

/** The id of one element of a task group, "12345_7". */
export const elementId = (group: AllocationId, index: number): AllocationId => `${group}_${index}` as AllocationId;

/** Splits the id of an element. Returns `null` for the id of an allocation or a group. */
export function elementOf(id: string): { readonly group: AllocationId; readonly index: number } | null {
  const cut = id.indexOf("_");
  if (cut < 0) return null;
  return { group: id.slice(0, cut) as AllocationId, index: Number(id.slice(cut + 1)) };
}

/** Gives an id to text that is checked by other means: generated names, and audit records, which their hash covers. */
export const unchecked = {
  allocation: (text: string): AllocationId => text as AllocationId,
  node: (text: string): NodeId => text as NodeId,
  tenant: (text: string): TenantId => text as TenantId,
  vcluster: (text: string): VClusterId => text as VClusterId,
  user: (text: string): UserName => text as UserName,
  group: (text: string): GroupId => text as GroupId,
} as const;

function whole(n: number): number {
  if (!Number.isSafeInteger(n)) throw new RangeError(`not a whole number: ${n}`);
  return n;
}
