// The audit trail of commands: which commands leave a record, and its content. Changes that users make to their own
// work leave none, because the history has them. A command that is not in the table leaves no record.

import type { AllocationId, TenantId, UserName } from "./base/ids.ts";
import type { Outcome } from "./base/outcome.ts";
import { quote } from "./base/outcome.ts";
import type { Command, CommandKind } from "./command.ts";
import type { AuditAction } from "./model/audit/action.ts";
import { auditKeyId } from "./model/audit/key.ts";
import type { State } from "./state/state.ts";
import { appendAudit } from "./transitions/audit/append.ts";
import type { Step } from "./transitions/step.ts";

/** Records an accepted command in the audit log. Returns the outcome unchanged. */
export function recordInAudit(
  step: Step,
  command: Command & { readonly origin: { readonly user: UserName } },
  outcome: Outcome,
): Outcome {
  if (outcome.kind !== "accepted" || outcome.repeated === true) return outcome;
  const describe = AUDITED_COMMANDS[command.kind] as
    | ((command: Command, about: AuditContext) => AuditAction | null)
    | undefined;
  const details = describe?.(command, circumstances(step.state)) ?? null;
  if (details !== null) appendAudit(step, command.origin.user, details.action ?? command.kind, details);
  return outcome;
}

const circumstances = (state: State): AuditContext => ({
  ownerOf(id) {
    const found = state.allocation(id) ?? state.group(id);
    return found === undefined ? null : { user: found.user, tenant: found.spec.tenant };
  },
});

/** The facts of the state that a description needs. */
interface AuditContext {
  ownerOf(allocation: AllocationId): { readonly user: UserName; readonly tenant: TenantId } | null;
}

type Describe<K extends CommandKind> = (
  command: Extract<Command, { readonly kind: K }>,
  about: AuditContext,
) => AuditAction | null;

const AUDITED_COMMANDS: { readonly [K in CommandKind]?: Describe<K> } = {
  "grant.add": ({ tenant, user, role }) => ({ scope: "access", tenant, detail: `${role} to ${quote(user)}` }),
  "grant.remove": ({ tenant, user, role }) => ({ scope: "access", tenant, detail: `${role} from ${quote(user)}` }),
  "secret.rotate": ({ name, keep }) => ({
    scope: "access",
    detail: `the key of ${name}; the one before counts for ${keep / 1_000} s`,
  }),
  "enrolment.create": ({ id, limit, lifetime, networks }) => ({
    scope: "access",
    detail: `${id} for ${limit} nodes from ${networks.join(", ") || "all networks"}, valid for ${lifetime / 1_000} s`,
  }),
  "enrolment.remove": ({ id }) => ({ scope: "access", detail: id }),
  "tenant.create": ({ tenant }) => ({ scope: "tenants", tenant, detail: "made" }),
  "tenant.update": ({ tenant, change }) => ({ scope: "tenants", tenant, detail: Object.keys(change).join(", ") }),
  "tenant.delete": ({ tenant }) => ({ scope: "tenants", tenant, detail: "removed" }),
  "vcluster.delete": ({ vcluster }) => ({ scope: "tenants", detail: vcluster }),
  "config.set": ({ key, value }) => ({ scope: "cluster", detail: `${key} ${value === null ? "unset" : quote(value)}` }),
  "vcluster.create": ({ vcluster, tenant }) => ({ scope: "tenants", ...ofTenant(tenant), detail: vcluster }),
  "vcluster.update": ({ vcluster, change }) => ({
    scope: "tenants",
    detail: `${vcluster}: ${Object.keys(change).join(", ")}`,
  }),
  "node.drain": ({ node, reason }) => ({ scope: "nodes", node, detail: quote(reason) }),
  "node.undrain": ({ node }) => ({ scope: "nodes", node, detail: "" }),
  "node.disable": ({ node, reason }) => ({ scope: "nodes", node, detail: quote(reason) }),
  "node.enable": ({ node }) => ({ scope: "nodes", node, detail: "" }),
  "node.assign": ({ node, vcluster }) => ({ scope: "nodes", node, detail: vcluster ?? "to all" }),
  "session.open": ({ allocation }, about) => ({
    scope: "work",
    allocation,
    ...ofTenant(about.ownerOf(allocation)?.tenant ?? null),
    detail: "",
  }),
  "allocation.cancel": ({ id, origin, reason }, about) => onOthersWork(id, origin.user, quote(reason), about),
  "allocation.hold": ({ id, origin, held }, about) => onOthersWork(id, origin.user, held ? "hold" : "release", about),
  "allocation.update": ({ id, origin, change }, about) =>
    onOthersWork(id, origin.user, Object.keys(change).join(", "), about),
  "cluster.restore_begin": ({ restore }) => ({ scope: "cluster", detail: quote(restore) }),
  "audit.rotate_key": ({ publicKey, previous, endorsement }) => ({
    scope: "cluster",
    detail: `key ${auditKeyId(publicKey)} follows ${previous}${endorsement === null ? ", which is lost" : ""}`,
  }),
  "audit.record": ({ action }) => action,
};

/** Only actions on the work of another user are recorded. */
function onOthersWork(
  allocation: AllocationId,
  user: UserName,
  detail: string,
  about: AuditContext,
): AuditAction | null {
  const owner = about.ownerOf(allocation);
  if (owner === null || owner.user === user) return null;
  return { scope: "work", allocation, tenant: owner.tenant, detail };
}

const ofTenant = (tenant: TenantId | null) => (tenant === null ? {} : { tenant });
