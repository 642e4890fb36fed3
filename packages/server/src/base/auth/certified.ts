// Programs that present a certificate of the cluster's authority instead of a token. The name in the certificate is the
// user, its organisation the tenant; the role is User, and further roles are grants. Only certificates issued for
// clients count, so that a node or a server never acts as a user; a server may show its own where a call is about
// itself.

import type { PeerCertificate } from "node:tls";
import { parseTenantId, parseUserName } from "@lattice/core";
import { bearerOf, ProblemError } from "@lattice/wire";
import { type Principal, SERVER_SCOPE } from "./principal.ts";

export interface Certificates {
  isRevoked(certificate: PeerCertificate): boolean;
}

const CLIENT = "client";
const SERVER = "server";

interface CertifiedOptions {
  /** For certificates that name no tenant. */
  readonly defaultTenant: string | null;
  readonly now: number;
  /** Accepts the certificate of a server as well, which then may only act for itself. */
  readonly servers: boolean;
}

/** Throws ProblemError `unauthenticated`. */
export function certified(
  shown: PeerCertificate,
  certificates: Certificates,
  { defaultTenant, now, servers }: CertifiedOptions,
): Principal {
  const { names, kind } = bearerOf(shown);
  const name = names[0] ?? "";
  const isServer = servers && kind === SERVER;
  if (kind !== CLIENT && !isServer)
    throw refused(kind === "" ? "was not issued for a client" : `is of kind ${kind}, not client`, name);
  // The handshake has checked both, but the connection may be older than the change.
  if (Date.parse(shown.valid_to) <= now) throw refused("has expired", name);
  if (certificates.isRevoked(shown)) throw refused("was revoked by its authority", name);
  const user = parseUserName(name);
  if (user === null) throw refused("has no valid user name", name);
  if (isServer) return { user, tenant: null, roles: [], scopes: [SERVER_SCOPE] };
  const { O } = shown.subject;
  const named = typeof O === "string" && O !== "" ? O : defaultTenant;
  const tenant = named === null ? null : parseTenantId(named);
  if (named !== null && tenant === null) throw refused(`has an invalid tenant name: ${named.slice(0, 80)}`, name);
  return { user, tenant, roles: ["User"], scopes: [] };
}

const refused = (why: string, name: string): ProblemError =>
  new ProblemError("unauthenticated", {
    detail: `The certificate of ${name.slice(0, 80) || "an unnamed client"} ${why}.`,
  });
