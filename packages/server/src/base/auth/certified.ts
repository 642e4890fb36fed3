// Programs that show a certificate of the cluster's authority instead of a token: its name is the user, its organisation, where it has
// one, the tenant. It makes a plain user; what more it may do is granted by the cluster. Only certificates that were issued for clients
// count, so that a node or a server never acts as a user.

import { parseTenantId, parseUserName } from "@lattice/core";
import { bearerOf, ProblemError } from "@lattice/wire";
import type { ShownCertificate } from "../tls/shown.ts";
import type { Principal } from "./principal.ts";

export interface Certificates {
  isRevoked(certificate: ShownCertificate): boolean;
}

const CLIENT = "client";

/** Throws ProblemError `unauthenticated`. `defaultTenant` is for certificates that name none. */
export function certified(
  shown: ShownCertificate,
  certificates: Certificates,
  { defaultTenant, now }: { readonly defaultTenant: string | null; readonly now: number },
): Principal {
  const { names, kind } = bearerOf(shown);
  const name = names[0] ?? "";
  if (kind !== CLIENT) throw refused(`is ${kind === "" ? "not said to be a client's" : `that of a ${kind}`}`, name);
  // The handshake has looked at both, but a connection may be older than the answer.
  if (Date.parse(shown.valid_to) <= now) throw refused("has ended", name);
  if (certificates.isRevoked(shown)) throw refused("was revoked by its authority", name);
  const user = parseUserName(name);
  if (user === null) throw refused("names no user", name);
  const { O } = shown.subject;
  const named = typeof O === "string" && O !== "" ? O : defaultTenant;
  const tenant = named === null ? null : parseTenantId(named);
  if (named !== null && tenant === null) throw refused(`names a tenant that is none: ${named.slice(0, 80)}`, name);
  return { user, tenant, roles: ["User"], scopes: [] };
}

const refused = (why: string, name: string): ProblemError =>
  new ProblemError("unauthenticated", {
    detail: `The certificate of ${name.slice(0, 80) || "an unnamed client"} ${why}.`,
  });
