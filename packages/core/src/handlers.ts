// The table of command handlers: one row per command, complete by its type. The handler of a command lives in
// commands/<noun>/<verb>.ts beside the type of the command.

import type { Outcome } from "./base/outcome.ts";
import type { Command, CommandKind } from "./command.ts";
import { cancelWork } from "./commands/allocation/cancel.ts";
import { checkpointWork } from "./commands/allocation/checkpoint.ts";
import { endBackoff } from "./commands/allocation/end-backoff.ts";
import { holdWork } from "./commands/allocation/hold.ts";
import { preemptVictims } from "./commands/allocation/preempt.ts";
import { requeueAllocation } from "./commands/allocation/requeue.ts";
import { resumeWork } from "./commands/allocation/resume.ts";
import { scaleAllocation } from "./commands/allocation/scale.ts";
import { submitAllocation } from "./commands/allocation/submit.ts";
import { updateWork } from "./commands/allocation/update.ts";
import { checkpointAttempt } from "./commands/attempt/checkpoint.ts";
import { expireAttempt } from "./commands/attempt/expire.ts";
import { applyReport } from "./commands/attempt/report.ts";
import { keepAuditKey } from "./commands/audit/keep-key.ts";
import { recordAction } from "./commands/audit/record.ts";
import { rotateAuditKey } from "./commands/audit/rotate-key.ts";
import { signAudit } from "./commands/audit/sign.ts";
import { removeClearedCheckpoints } from "./commands/checkpoint/cleared.ts";
import { expireCheckpoint } from "./commands/checkpoint/expire.ts";
import { foundCluster } from "./commands/cluster/found.ts";
import { restoreAudit } from "./commands/cluster/restore-audit.ts";
import { startRestore } from "./commands/cluster/restore-begin.ts";
import { commitRestore } from "./commands/cluster/restore-commit.ts";
import { restoreHistory } from "./commands/cluster/restore-history.ts";
import { stageRestoreText } from "./commands/cluster/restore-text.ts";
import { setConfig } from "./commands/config/set.ts";
import { cancelDag } from "./commands/dag/cancel.ts";
import { submitDag } from "./commands/dag/submit.ts";
import { createEnrolment } from "./commands/enrolment/create.ts";
import { removeEnrolment } from "./commands/enrolment/remove.ts";
import { useEnrolment } from "./commands/enrolment/use.ts";
import { addGrant } from "./commands/grant/add.ts";
import { removeGrant } from "./commands/grant/remove.ts";
import { submitGroup } from "./commands/group/submit.ts";
import { removeDeliveries } from "./commands/hooks/delivered.ts";
import { setHooks } from "./commands/hooks/set.ts";
import { setLimits } from "./commands/limits/set.ts";
import { setDomainFabric } from "./commands/network/fabric.ts";
import { setDomainGrace } from "./commands/network/grace.ts";
import { releaseDomain } from "./commands/network/release.ts";
import { setNetwork } from "./commands/network/set.ts";
import { assignNode } from "./commands/node/assign.ts";
import { disableNode } from "./commands/node/disable.ts";
import { drainNode } from "./commands/node/drain.ts";
import { enableNode } from "./commands/node/enable.ts";
import { setNodeHealth } from "./commands/node/health.ts";
import { probeNode } from "./commands/node/probe.ts";
import { quarantineByController } from "./commands/node/quarantine.ts";
import { registerNode } from "./commands/node/register.ts";
import { undrainNode } from "./commands/node/undrain.ts";
import { clearNoticeByKey } from "./commands/notice/clear.ts";
import { raiseNoticeByController } from "./commands/notice/raise.ts";
import { commitPlan } from "./commands/plan/commit.ts";
import { setRetention } from "./commands/retention/set.ts";
import { keepSecret } from "./commands/secret/keep.ts";
import { rotateSecret } from "./commands/secret/rotate.ts";
import { closeSession } from "./commands/session/close.ts";
import { openSession } from "./commands/session/open.ts";
import { createTenant } from "./commands/tenant/create.ts";
import { deleteTenant } from "./commands/tenant/delete.ts";
import { updateTenant } from "./commands/tenant/update.ts";
import { createVCluster } from "./commands/vcluster/create.ts";
import { deleteVCluster } from "./commands/vcluster/delete.ts";
import { updateVCluster } from "./commands/vcluster/update.ts";
import type { Step } from "./transitions/step.ts";

type Handler<K extends CommandKind> = (step: Step, command: Extract<Command, { readonly kind: K }>) => Outcome;

const HANDLERS: { readonly [K in CommandKind]: Handler<K> } = {
  "allocation.submit": submitAllocation,
  "allocation.cancel": cancelWork,
  "allocation.hold": holdWork,
  "group.submit": submitGroup,
  "dag.submit": submitDag,
  "dag.cancel": cancelDag,
  "allocation.update": updateWork,
  "allocation.requeue": requeueAllocation,
  "allocation.preempt": preemptVictims,
  "allocation.checkpoint": checkpointWork,
  "allocation.resume": resumeWork,
  "attempt.checkpoint": checkpointAttempt,
  "checkpoint.cleared": removeClearedCheckpoints,
  "checkpoint.expire": expireCheckpoint,
  "plan.commit": commitPlan,
  "attempt.report": applyReport,
  "attempt.expire": expireAttempt,
  "node.register": registerNode,
  "node.health": setNodeHealth,
  "node.drain": drainNode,
  "node.undrain": undrainNode,
  "node.disable": disableNode,
  "node.enable": enableNode,
  "node.assign": assignNode,
  "tenant.create": createTenant,
  "tenant.update": updateTenant,
  "vcluster.create": createVCluster,
  "vcluster.update": updateVCluster,
  "tenant.delete": deleteTenant,
  "vcluster.delete": deleteVCluster,
  "config.set": setConfig,
  "grant.add": addGrant,
  "grant.remove": removeGrant,
  "enrolment.create": createEnrolment,
  "enrolment.remove": removeEnrolment,
  "enrolment.use": useEnrolment,
  "secret.keep": keepSecret,
  "secret.rotate": rotateSecret,
  "audit.record": (_step, command) => recordAction(command),
  "audit.sign": signAudit,
  "audit.keep_key": keepAuditKey,
  "audit.rotate_key": rotateAuditKey,
  "retention.set": setRetention,
  "session.open": openSession,
  "session.close": closeSession,
  "cluster.found": foundCluster,
  "cluster.restore_begin": startRestore,
  "cluster.restore_text": stageRestoreText,
  "cluster.restore_commit": commitRestore,
  "cluster.restore_history": restoreHistory,
  "cluster.restore_audit": restoreAudit,
  "limits.set": setLimits,
  "network.set": setNetwork,
  "network.grace": setDomainGrace,
  "network.fabric": setDomainFabric,
  "network.release": releaseDomain,
  "node.quarantine": quarantineByController,
  "node.probe": probeNode,
  "allocation.end_backoff": endBackoff,
  "allocation.scale": scaleAllocation,
  "notice.raise": raiseNoticeByController,
  "notice.clear": clearNoticeByKey,
  "hooks.set": setHooks,
  "hooks.delivered": removeDeliveries,
};

export const isCommandKind = (kind: string): kind is CommandKind => Object.hasOwn(HANDLERS, kind);

/** Carries out one command. The table pairs each kind with its handler. */
export function handleCommand(step: Step, command: Command): Outcome {
  const handler = HANDLERS[command.kind] as (step: Step, command: Command) => Outcome;
  return handler(step, command);
}
