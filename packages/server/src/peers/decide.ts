// Decides whether a change of the members is allowed, from the list of members. A refusal gives the reason and the
// remedy; `null` means allowed.

import { ProblemError, type pb } from "@lattice/wire";
import type { KnownServer } from "../log/index.ts";

/** A server further behind would delay all writes while it catches up. */
const MAX_LAG = 1_000;

/** Adding the same server at the same address again is allowed and changes nothing. */
export function refuseNewcomer(members: readonly pb.Member[], { id, peer }: KnownServer): ProblemError | null {
  const same = members.find((member) => member.id === id && member.etcd !== undefined);
  if (same?.etcd !== undefined && same.etcd.peerAddress !== peer) {
    return new ProblemError("conflict", {
      detail: `${id} is already a member, at ${same.etcd.peerAddress}.`,
      hint: `If its data is lost, join with --replace. Otherwise remove it first (lattice admin raft remove-member ${id}), or choose another id.`,
    });
  }
  const there = members.find(({ etcd }) => etcd?.peerAddress === peer);
  if (there?.etcd !== undefined && there.etcd.name !== "" && there.id !== id) {
    return new ProblemError("conflict", {
      detail: `The member at ${peer} belongs to ${there.id}.`,
      hint: "Choose another peer address.",
    });
  }
  return null;
}

/** A member that may still run is not replaced: it and its successor would speak for the same server. */
export function refuseReplacement({ id, healthy, etcd }: pb.Member): ProblemError | null {
  if (!healthy && etcd?.healthy !== true) return null;
  return new ProblemError("conflict", {
    detail: `${id} is not lost: ${healthy ? "it" : "its etcd member"} answers.`,
    hint: `Stop it first, or remove it (lattice admin raft remove-member ${id}); --replace is for a member without its data.`,
  });
}

/**
 * Finds the member of a server that has been started, as it must be removed before the server can be added again. A
 * member at its address that belongs to no known server is its own.
 */
export const startedMember = (members: readonly pb.Member[], { id, peer }: KnownServer): pb.Member | null =>
  members.find(({ id: server, etcd }) => {
    if (etcd === undefined || etcd.name === "") return false;
    return server === id || (server === etcd.name && etcd.peerAddress === peer);
  }) ?? null;

/** Finds a member by the server's id, else by the name or id of its etcd member. */
export const findMember = (members: readonly pb.Member[], id: string): pb.Member | null =>
  members.find((member) => member.id === id) ??
  members.find(({ etcd }) => etcd !== undefined && (etcd.name === id || etcd.id === id)) ??
  null;

export function refuseTransfer(members: readonly pb.Member[], to: string): ProblemError | null {
  const target = members.find(({ id }) => id === to);
  if (target === undefined) return new ProblemError("unknown_member", { detail: `There is no member ${to}.` });
  if (!target.healthy) {
    return new ProblemError("conflict", {
      detail: `${to} does not answer, so it cannot lead.`,
      hint: "Choose a member that `lattice admin raft status` shows as healthy.",
    });
  }
  if ((target.lag ?? 0) <= MAX_LAG) return null;
  return new ProblemError("conflict", {
    detail: `${to} is ${target.lag} entries behind; at most ${MAX_LAG} are allowed.`,
    hint: "Wait until it has caught up, or choose another member.",
  });
}

/** Returns the healthy server with the highest applied index, other than `except`; ties by id. */
export function chooseSuccessor(members: readonly pb.Member[], except: string): string | null {
  const able = members.filter(({ id, healthy }) => healthy && id !== except);
  const [best] = able.sort((a, b) => applied(b) - applied(a) || (a.id < b.id ? -1 : 1));
  return best?.id ?? null;
}

const applied = ({ appliedIndex }: pb.Member): number => Number(appliedIndex ?? 0);

/** Converts an error of the log engine. */
export function asProblem(cause: unknown, what: string): ProblemError {
  if (cause instanceof ProblemError) return cause;
  const { kind, message } = cause as Error & { readonly kind?: string };
  if (kind === "busy")
    return new ProblemError("majority_at_risk", { detail: `${what}: ${message}`, retryAfterSeconds: 1, cause });
  if (kind === "refused") return new ProblemError("majority_at_risk", { detail: `${what}: ${message}`, cause });
  if (kind === "not_found") return new ProblemError("unknown_member", { detail: `${what}: ${message}`, cause });
  return new ProblemError("log_unavailable", { detail: `${what}: ${message}`, cause });
}
