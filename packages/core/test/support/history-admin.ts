// Parts of random histories: notices, webhooks and roles.

import { type Command, duration, noticeKey, type State } from "@lattice/core";
import { grant, origin, tenantId } from "./cluster.ts";
import { type Dice, pick } from "./dice.ts";

export function makeHooks(roll: Dice): Command {
  const all = [
    { name: "all", tenant: null, states: ["completed", "failed", "cancelled"], notices: true },
    { name: "art", tenant: tenantId("art"), states: ["failed"], notices: false },
  ] as const;
  return { kind: "hooks.set", hooks: all.slice(0, roll(3)) };
}

export function makeDelivered(roll: Dice, state: State): Command {
  const keys = Array.from(state.deliveries(), ({ key }) => key);
  return { kind: "hooks.delivered", keys: [...keys.slice(0, roll(4)), "none/1/failed"] };
}

export function makeCleared(roll: Dice, state: State): Command {
  const allocations = Array.from(state.clearings(), ({ allocation }) => allocation);
  return { kind: "checkpoint.cleared", allocations: allocations.slice(0, roll(3)) };
}

export function makeNotice(roll: Dice): Command {
  const name = pick(roll, ["physics", "art"]) ?? "art";
  const key = noticeKey("budget_exhausted", name);
  if (roll(3) === 0) return { kind: "notice.clear", key };
  const notice = { key, kind: "budget_exhausted", text: "spent", tenant: tenantId(name), user: null } as const;
  return { kind: "notice.raise", notice };
}

export function makeGrant(roll: Dice): Command {
  const kind = roll(3) > 0 ? "grant.add" : "grant.remove";
  const role = pick(roll, ["tenant_admin", "claiming_user", "king"]) ?? "king";
  return grant(
    kind,
    pick(roll, ["physics", "art", "nowhere"]) ?? "art",
    pick(roll, ["ada", "bob", "no good"]) ?? "ada",
    role,
  );
}

const auditKey = (n: number): string => `MCowBQYDK2VwAyEA${String(n).padStart(43, "0")}=`;
const auditSignature = `${"A".repeat(86)}==`;

/** Signatures of waiting records, sometimes of others, and keys that follow one another. */
export function makeAudit(roll: Dice, state: State): Command {
  const current = state.auditKey()?.id ?? "none";
  const publicKey = auditKey(roll(40));
  if (roll(6) === 0) return { kind: "audit.keep_key", publicKey };
  if (roll(6) === 0) {
    const endorsement = pick(roll, [auditSignature, null, "none"]) ?? null;
    return { kind: "audit.rotate_key", origin: origin(), previous: current, publicKey, endorsement };
  }
  const first = state.signedAudit() + (roll(8) === 0 ? roll(3) : 1);
  return { kind: "audit.sign", key: current, first, signatures: Array.from({ length: roll(4) }, () => auditSignature) };
}

/** The first that is good stands, until it is followed by another. */
export function makeSecret(roll: Dice): Command {
  if (roll(3) === 0) {
    const value = "kl"[roll(2)] ?? "k";
    const keep = duration(pick(roll, [0, 1_000, 600_000, -1]) ?? 0);
    return { kind: "secret.rotate", origin: origin(), name: "jobs", value: value.repeat(43 + roll(12)), keep };
  }
  return { kind: "secret.keep", name: "jobs", value: "k".repeat(roll(3) === 0 ? 8 : 43 + roll(3)) };
}
