// cluster.restore_commit: replaces the empty state by the restored one, in one step; the finished records of the backup
// follow. The proposing server has verified the state hash, because the core has no hash function.

import { type Instant, type LogIndex, logIndex, SYSTEM_USER } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";

import type { Allocation } from "../../model/allocation/allocation.ts";
import { type ClusterIdentity, restoredIdentity } from "../../model/cluster/identity.ts";
import { clusterContent } from "../../queries/cluster-content.ts";
import { loadRecord, readSnapshot, SnapshotError } from "../../state/restore.ts";
import { TABLE_NAMES } from "../../state/snapshot.ts";
import type { State } from "../../state/state.ts";
import { appendAudit } from "../../transitions/audit/append.ts";
import { endAuditKey } from "../../transitions/audit/key.ts";
import { discardStaging, noSuchRestore, stagedLines, stagedRestore } from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";
import { IDENTITY_KEY } from "./found.ts";

/** All pieces have arrived: the restored state replaces the empty one. */
export interface CommitRestoreCommand {
  readonly kind: "cluster.restore_commit";
  readonly restore: string;
}

/**
 * Ids that the lost cluster may have given after the backup are not given again: agents and users may
 * still hold them. More submissions than this between two backups would have to be lost for a clash.
 */
export const RESTORED_ID_GAP = 1_000_000;

/** Prepares a state that was read from a backup, before a new log begins behind it. */
export function prepareRestoredState(state: State, at: Instant): void {
  discardStaging(state);
  skipLostIds(state);
  dropEnrolments(state);
  endAuditKey(state);
  setIdentity(state, restoredIdentity(state.identity, null, at));
}

function setIdentity(state: State, identity: ClusterIdentity | null): void {
  if (identity !== null) state.tables.identity.set(IDENTITY_KEY, identity);
}

/** The backup does not know the nodes that used them afterwards, nor that one was removed. */
function dropEnrolments({ tables }: State): void {
  for (const id of [...tables.enrolments.keys()]) tables.enrolments.delete(id);
}

function skipLostIds(state: State): void {
  state.counters.nextAllocation += RESTORED_ID_GAP;
}

export function commitRestore(step: Step, { restore }: CommitRestoreCommand): Outcome {
  const { state } = step;
  const staged = stagedRestore(state);
  if (staged?.restore !== restore || staged.committed) return noSuchRestore(restore);
  const refusal = replaceIfPossible(step);
  discardStaging(state);
  if (refusal !== null) return refusal;
  state.tables.staging.set("0", { n: 0, restore, committed: true, text: "" });
  for (const { id } of state.vclusters()) step.events.push({ kind: "vcluster_changed", vcluster: id });
  step.events.push({ kind: "cluster_restored", reason: restore });
  appendAudit(step, SYSTEM_USER, "cluster.restored", { scope: "cluster", detail: restore });
  return accepted(restore);
}

function replaceIfPossible(step: Step): Outcome | null {
  const { state } = step;
  const own = clusterContent(state);
  if (own !== null) return refuse("cluster_not_empty", `a backup goes into a cluster that is empty, but ${own}`);
  let fresh: State;
  try {
    const reader = readSnapshot();
    for (const line of stagedLines(state)) reader.line(line);
    fresh = reader.complete().state;
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return refuse("invalid_argument", error.message);
  }
  if (fresh.at > step.at) {
    return refuse("invalid_argument", "the backup is from the future: set the clock of the servers first");
  }
  replace(state, fresh, step);
  return null;
}

/** The retention stays: it comes from the configuration of the servers that run now. */
function replace(state: State, fresh: State, { index, at }: Pick<Step, "index" | "at">): void {
  const { tables, counters } = state;
  const identity = restoredIdentity(fresh.identity, state.identity, at);
  for (const id of [...tables.vclusters.keys()]) tables.vclusters.delete(id);
  for (const id of [...tables.tenants.keys()]) tables.tenants.delete(id);
  for (const request of [...tables.requests.values()]) state.removeRequest(request);
  for (const bucket of [...tables.ledger.values()]) state.dropBucket(bucket);
  for (const key of [...tables.notices.keys()]) tables.notices.delete(key);
  for (const key of [...tables.deliveries.keys()]) tables.deliveries.delete(key);
  for (const key of [...tables.clearings.keys()]) tables.clearings.delete(key);
  // The audit log of the lost cluster continues and replaces the few records of the empty one.
  state.dropAudit();
  for (const key of [...tables.auditKeys.keys()]) tables.auditKeys.delete(key);
  for (const name of TABLE_NAMES) {
    // Webhooks and the pool of networks come from the configuration of the servers that run now.
    if (name === "staging" || name === "hooks" || name === "network" || name === "deliveries") continue;
    let line = 0;
    for (const record of fresh.tables[name].values()) {
      line += 1;
      loadRecord(state, name, name === "allocations" ? renumbered(record as Allocation, index) : record, line);
    }
  }
  Object.assign(counters, fresh.counters);
  skipLostIds(state);
  dropEnrolments(state);
  // A backup has no private key; the leader begins another one.
  endAuditKey(state);
  setIdentity(state, identity);
  state.version = Math.max(state.version, fresh.version);
}

/** Entries of the new log start at 1: "pending since entry 90,000" would lie in the future. */
const renumbered = (record: Allocation, index: LogIndex): Allocation =>
  record.pendingSinceIndex <= index ? record : { ...record, pendingSinceIndex: logIndex(index) };
