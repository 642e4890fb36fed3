// The fold: one entry of the log changes the state and says what follows. It looks at nothing
// but its two arguments, so every replica gets the same state, outcomes, events and effects. If it
// throws, the state may be half changed and the replica must stop.

import { addGrant, removeGrant } from "./access/change.ts";
import { keepSecret, rotateSecret } from "./access/keep-secret.ts";
import { cancelAllocation } from "./allocation/cancel.ts";
import { expireAttempt } from "./allocation/expire.ts";
import { holdWork } from "./allocation/hold-work.ts";
import { takeReport } from "./allocation/report.ts";
import { takeTogether } from "./allocation/report-together.ts";
import { requeueAllocation } from "./allocation/requeue.ts";
import { releaseHeld } from "./allocation/restart.ts";
import { settle } from "./allocation/settle.ts";
import { submitAllocation } from "./allocation/submit.ts";
import { updateAllocation } from "./allocation/update.ts";
import { audited, recordDeed } from "./audit/append.ts";
import { askCheckpoint, checkpointAttempt } from "./checkpoint/ask.ts";
import { checkpointsCleared } from "./checkpoint/clear.ts";
import { expireCheckpoint } from "./checkpoint/expire.ts";
import { resumeAllocation } from "./checkpoint/return.ts";
import { beginClusterRestore, stageText } from "./cluster/begin-restore.ts";
import { commitRestore, restoreHistory } from "./cluster/commit-restore.ts";
import { restoreAudit } from "./cluster/restore-audit.ts";
import type { Command, Entry } from "./command.ts";
import { cancelDag } from "./dag/cancel.ts";
import { submitDag } from "./dag/submit.ts";
import { checkpointGroup, resumeGroup, updateGroup } from "./group/as-a-whole.ts";
import { submitGroup } from "./group/submit.ts";
import { invariant } from "./invariant.ts";
import { beginLedger } from "./ledger/begin.ts";
import { dropOldBuckets } from "./ledger/charge.ts";
import { setDomainFabric } from "./network/fabric.ts";
import { releaseDomain, setDomainGrace, setNetwork } from "./network/settings.ts";
import { assignNode } from "./node/assign.ts";
import { disableNode, enableNode } from "./node/disable.ts";
import { drainNode, undrainNode } from "./node/drain.ts";
import { judgeNode } from "./node/health.ts";
import { registerNode } from "./node/register.ts";
import { probeNode, setAsideNode } from "./node/set-aside.ts";
import { delivered } from "./notice/deliver.ts";
import { clearNotice, raiseNotice } from "./notice/raise.ts";
import { setHooks } from "./notice/set-hooks.ts";
import type { Applied, Outcome } from "./outcome.ts";
import { commitPlan } from "./plan/commit.ts";
import { preemptFor } from "./preemption/preempt.ts";
import { scaleAllocation } from "./scaling/scale.ts";
import { closeSession } from "./session/close.ts";
import { openSession } from "./session/open.ts";

import { setConfig } from "./settings/set.ts";
import { setLimits } from "./settings/set-limits.ts";
import { answerOnce, forgetOldRequests } from "./state/requests.ts";
import { archiveFinished, setRetention } from "./state/retention.ts";
import type { State } from "./state/state.ts";
import type { Step } from "./step.ts";
import { createTenant } from "./tenant/create.ts";
import { deleteTenant } from "./tenant/delete.ts";
import { updateTenant } from "./tenant/update.ts";
import { createVCluster } from "./vcluster/create.ts";
import { deleteVCluster } from "./vcluster/delete.ts";
import { updateVCluster } from "./vcluster/update.ts";
import { ENTRY_VERSION, VersionTooNewError } from "./version.ts";

export function applyEntry(state: State, entry: Entry): Applied {
  if (entry.version > ENTRY_VERSION) throw new VersionTooNewError(entry.index, entry.version);
  invariant(entry.index === state.index + 1, `entry ${entry.index} does not follow ${state.index}`);
  invariant(entry.at >= state.at, `entry ${entry.index} is stamped before the one it follows`);

  const version = Math.max(state.version, entry.version);
  const step: Step = {
    state,
    index: entry.index,
    at: entry.at,
    version,
    events: [],
    effects: [],
    ended: [],
    stirred: new Set(),
  };
  forgetOldRequests(step);
  const outcomes = applyCommands(step, entry.commands);
  archiveFinished(step);
  dropOldBuckets(state, entry.at);
  state.index = entry.index;
  state.version = Math.max(state.version, entry.version);
  state.at = entry.at;
  return { index: entry.index, at: entry.at, outcomes, events: step.events, effects: step.effects };
}

/** One by one, but for what all nodes of an attempt say at once. */
function applyCommands(step: Step, commands: readonly Command[]): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  while (outcomes.length < commands.length) {
    const at = outcomes.length;
    const together = takeTogether(step, commands, at);
    if (together === null) outcomes.push(applyCommand(step, commands[at] as Command));
    else for (const outcome of together) outcomes.push(outcome);
    settle(step);
  }
  return outcomes;
}

function applyCommand(step: Step, command: Command): Outcome {
  if (!("origin" in command)) return carryOut(step, command);
  return answerOnce(step, command.origin, command.kind, () => audited(step, command, carryOut(step, command)));
}

function carryOut(step: Step, command: Command): Outcome {
  switch (command.kind) {
    case "allocation.submit":
      return submitAllocation(step, command);
    case "allocation.cancel":
      return cancelAllocation(step, command);
    case "allocation.hold":
      return holdWork(step, command);
    case "group.submit":
      return submitGroup(step, command);
    case "dag.submit":
      return submitDag(step, command);
    case "dag.cancel":
      return cancelDag(step, command);
    case "allocation.update":
      return updateGroup(step, command) ?? updateAllocation(step, command);
    case "allocation.requeue":
      return requeueAllocation(step, command);
    case "allocation.preempt":
      return preemptFor(step, command);
    case "allocation.checkpoint":
      return checkpointGroup(step, command) ?? askCheckpoint(step, command);
    case "allocation.resume":
      return resumeGroup(step, command) ?? resumeAllocation(step, command);
    case "attempt.checkpoint":
      return checkpointAttempt(step, command);
    case "checkpoints.cleared":
      return checkpointsCleared(step, command);
    case "checkpoint.expire":
      return expireCheckpoint(step, command);
    case "plan.commit":
      return commitPlan(step, command);
    case "attempt.report":
      return takeReport(step, command);
    case "attempt.expire":
      return expireAttempt(step, command);
    case "node.register":
      return registerNode(step, command);
    case "node.health":
      return judgeNode(step, command);
    case "node.drain":
      return drainNode(step, command);
    case "node.undrain":
      return undrainNode(step, command);
    case "node.disable":
      return disableNode(step, command);
    case "node.enable":
      return enableNode(step, command);
    case "node.assign":
      return assignNode(step, command);
    case "tenant.create":
      return createTenant(step, command);
    case "tenant.update":
      return updateTenant(step, command);
    case "vcluster.create":
      return createVCluster(step, command);
    case "vcluster.update":
      return updateVCluster(step, command);
    case "tenant.delete":
      return deleteTenant(step, command);
    case "vcluster.delete":
      return deleteVCluster(step, command);
    case "config.set":
      return setConfig(step, command);
    case "grant.add":
      return addGrant(step, command);
    case "grant.remove":
      return removeGrant(step, command);
    case "secret.keep":
      return keepSecret(step, command);
    case "secret.rotate":
      return rotateSecret(step, command);
    case "audit.record":
      return recordDeed(command);
    case "retention.set":
      return setRetention(step, command);
    case "ledger.begin":
      return beginLedger(step);
    case "session.open":
      return openSession(step, command);
    case "session.close":
      return closeSession(step, command);
    case "cluster.restore_begin":
      return beginClusterRestore(step, command);
    case "cluster.restore_text":
      return stageText(step, command);
    case "cluster.restore_commit":
      return commitRestore(step, command);
    case "cluster.restore_history":
      return restoreHistory(step, command);
    case "cluster.restore_audit":
      return restoreAudit(step, command);
    case "limits.set":
      return setLimits(step, command);
    case "network.set":
      return setNetwork(step, command);
    case "network.grace":
      return setDomainGrace(step, command);
    case "network.fabric":
      return setDomainFabric(step, command);
    case "network.release":
      return releaseDomain(step, command);
    case "node.set_aside":
      return setAsideNode(step, command);
    case "node.probe":
      return probeNode(step, command);
    case "allocation.release":
      return releaseHeld(step, command);
    case "allocation.scale":
      return scaleAllocation(step, command);
    case "notice.raise":
      return raiseNotice(step, command);
    case "notice.clear":
      return clearNotice(step, command);
    case "hooks.set":
      return setHooks(step, command);
    case "hooks.delivered":
      return delivered(step, command);
  }
}
