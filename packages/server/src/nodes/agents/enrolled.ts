// Authenticates an agent by an enrolment token, against this server's replica and the address of the connection. The log
// checks the number of nodes and the time again when the certificate is issued.

import { createHash, timingSafeEqual } from "node:crypto";
import { instant, type NodeId, useRefusal, type View } from "@lattice/core";
import { type EnrolmentToken, ProblemError, parseEnrolmentToken } from "@lattice/wire";
import { containsAddress } from "../../base/auth/networks.ts";
import type { Headers } from "../../base/auth/principal.ts";

export interface Enrolled {
  readonly id: string;
  readonly address: string;
  /** Returns why this node may not use the enrolment, or null. */
  refusal(node: NodeId): string | null;
}

export interface EnrolmentOptions {
  readonly view: () => Pick<View, "enrolment" | "node">;
  readonly now: () => number;
}

/** Hash of a secret as the state has it. The secret is random, so a plain hash is enough. */
export const enrolmentHash = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Returns the enrolment token of a caller; null for other tokens and for none. */
export const enrolmentTokenOf = (headers: Headers): EnrolmentToken | null =>
  parseEnrolmentToken(/^bearer +(\S+)$/i.exec(headers("authorization") ?? "")?.[1] ?? "");

/** Throws a ProblemError when the token is not valid at this address now. */
export function enrolled({ view, now }: EnrolmentOptions, { id, secret }: EnrolmentToken, address: string): Enrolled {
  const known = view().enrolment(id);
  if (known === undefined || !sameHash(known.hash, enrolmentHash(secret)))
    throw new ProblemError("unauthenticated", {
      detail: "The enrolment token is unknown: it was removed, or another cluster made it.",
      hint: "Create one with `lattice admin enrolment create`.",
    });
  const { networks } = known;
  if (networks.length > 0 && !containsAddress(networks, address))
    throw new ProblemError("forbidden", {
      detail: `The enrolment ${id} is for nodes in ${networks.join(", ")}, and this one connects from ${address || "an unknown address"}.`,
    });
  return { id, address, refusal: (node) => useRefusal(view(), { id, node, now: instant(now()) }) };
}

const sameHash = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
