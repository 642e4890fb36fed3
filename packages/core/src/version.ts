// Versions of what is written down: entries of the log and snapshots. Each kind of command has the
// version it first appears in, and an entry carries the least that its commands need, so that
// servers of this version and the one before share a log for as long as nothing new is used. What
// was written by a newer program is refused, never guessed at.

import type { AllocationSpec } from "./allocation/spec.ts";
import type { Command, CommandKind } from "./command.ts";
import { LEDGER_VERSION } from "./ledger/version.ts";

/** The newest entries that this program can apply. */
export const ENTRY_VERSION = 2;

/** The version before, and the first that there was. */
const FIRST = 1;

/** Complete by its type: a command that is missing here does not compile. */
export const COMMAND_VERSIONS: Readonly<Record<CommandKind, number>> = {
  "allocation.submit": FIRST,
  "allocation.cancel": FIRST,
  "allocation.hold": 2,
  "allocation.update": FIRST,
  "allocation.requeue": FIRST,
  "allocation.preempt": 2,
  "allocation.checkpoint": 2,
  "allocation.resume": 2,
  "attempt.checkpoint": 2,
  "checkpoint.expire": 2,
  "checkpoints.cleared": 2,
  "plan.commit": FIRST,
  "attempt.report": FIRST,
  "attempt.expire": FIRST,
  "node.register": FIRST,
  "node.health": FIRST,
  "node.drain": FIRST,
  "node.undrain": FIRST,
  "node.disable": FIRST,
  "node.enable": FIRST,
  "node.assign": 2,
  "tenant.create": FIRST,
  "tenant.update": FIRST,
  "vcluster.create": FIRST,
  "vcluster.update": FIRST,
  "tenant.delete": 2,
  "vcluster.delete": 2,
  "config.set": 2,
  "grant.add": 2,
  "grant.remove": 2,
  "secret.keep": 2,
  "secret.rotate": 2,
  "audit.record": 2,
  "retention.set": FIRST,
  "ledger.begin": LEDGER_VERSION,
  "session.open": 2,
  "session.close": 2,
  "group.submit": 2,
  "dag.submit": 2,
  "dag.cancel": 2,
  "cluster.restore_begin": 2,
  "cluster.restore_text": 2,
  "cluster.restore_commit": 2,
  "cluster.restore_history": 2,
  "cluster.restore_audit": 2,
  "network.set": 2,
  "limits.set": 2,
  "network.grace": 2,
  "network.release": 2,
  "network.fabric": 2,
  "node.set_aside": 2,
  "node.probe": 2,
  "allocation.release": 2,
  "allocation.scale": 2,
  "notice.raise": 2,
  "notice.clear": 2,
  "hooks.set": 2,
  "hooks.delivered": 2,
};

/** The least version of a server that applies this command as this program does. */
export function versionNeeded(command: Command): number {
  const version = COMMAND_VERSIONS[command.kind];
  if (command.kind === "tenant.create") return (command.quota.maxNetworkDomains ?? null) === null ? version : 2;
  if (command.kind === "tenant.update")
    return command.change.quota?.maxNetworkDomains === undefined && command.within !== true ? version : 2;
  if (command.kind === "vcluster.create" && (hasSharing(command) || command.scheduler === "hpc_proportional")) return 2;
  if (command.kind === "vcluster.update" && hasSharing(command.change)) return 2;
  // Servers of version 1 would not try such an attempt again elsewhere.
  if (command.kind === "attempt.report") {
    const { reason, checkpoint, prologueRetries, mayBeWork, setAside } = command;
    const more = (checkpoint ?? prologueRetries ?? mayBeWork ?? setAside) !== undefined;
    return reason === "prologue_failed" || more ? 2 : version;
  }
  if (command.kind === "node.drain" && command.urgent === true) return 2;
  if (command.kind === "node.health")
    return command.verdict === "warning" || command.verdict === "repaired" ? 2 : version;
  if (command.kind === "plan.commit" && command.placements.some(({ shared }) => shared === true)) return 2;
  if (command.kind === "allocation.cancel" && command.elements !== undefined) return 2;
  if (command.kind === "allocation.update" && command.change.telemetry !== undefined) return 2;
  if (command.kind === "allocation.update" && (command.change.setTags ?? command.change.removeTags) !== undefined)
    return 2;
  if (command.kind === "allocation.requeue") return command.cause === "updated" ? 2 : version;
  if (command.kind === "allocation.update") return command.change.service === undefined ? version : 2;
  if (command.kind !== "allocation.submit") return version;
  if (command.spec.dependsOn !== undefined || command.hold === true) return 2;
  const { constraints } = command.spec.resources;
  const { requireConformance, requireUnifiedMemory, allowCxlMemory, maxGroups, storageMBps } = constraints;
  // Servers of version 1 do not know these and would take placements that others refuse.
  const newer =
    requireConformance === true ||
    requireUnifiedMemory === true ||
    allowCxlMemory === true ||
    (maxGroups ?? storageMBps) !== undefined;
  const { lifecycle, session, expose, probe, telemetry, checkpoint, networkDomain, output } = command.spec;
  const service = session === true || expose !== undefined || probe !== undefined || networkDomain !== undefined;
  const observed = telemetry !== undefined || checkpoint !== undefined || output !== undefined;
  const more = newer || observed || service || lifecycle.noPreempt === true || lifecycle.kind === "reactive";
  return more || asksForSoftware(command.spec) ? 2 : version;
}

/** Servers of version 1 would run it on the bare node. */
function asksForSoftware({ environment, mounts = [], data, resources }: AllocationSpec): boolean {
  const { uenv, toolsUenv, image } = environment;
  if (uenv !== undefined || toolsUenv !== undefined || image !== undefined) return true;
  return mounts.length > 0 || data !== undefined || resources.constraints.memoryPolicy !== undefined;
}

const SHARING = [
  "preempts",
  "preemptible",
  "borrows",
  "lending",
  "nearCompletion",
  "maxVictims",
  "sharesNodes",
] as const;

const hasSharing = (policy: Partial<Record<(typeof SHARING)[number], unknown>>): boolean =>
  SHARING.some((setting) => policy[setting] !== undefined);

/** Of an entry with these commands. */
export function entryVersion(commands: readonly Command[]): number {
  return commands.reduce((most, command) => Math.max(most, versionNeeded(command)), FIRST);
}

export class VersionTooNewError extends Error {
  readonly index: number;
  readonly version: number;
  constructor(index: number, version: number) {
    super(
      `log entry ${index} has version ${version}, but this program understands versions up to ${ENTRY_VERSION}: ` +
        "upgrade this server before it can go on",
    );
    this.name = "VersionTooNewError";
    this.index = index;
    this.version = version;
  }
}
