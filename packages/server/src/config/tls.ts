// Certificates of the listeners: none, the server's own, or the server's own with an authority by which agents and
// peers prove who they are. With the authority's key this server also renews the certificates of agents.

import { resolve } from "node:path";
import { type Duration, seconds } from "@lattice/core";
import { z } from "zod";
import { span } from "./fields.ts";

export interface TlsConfig {
  /** Absolute paths of PEM files. */
  readonly cert: string;
  readonly key: string;
  /** Null: clients are not asked for certificates. */
  readonly ca: string | null;
  /** Null: this server renews nobody's certificate. */
  readonly caKey: string | null;
  /** Certificates that were called back; null: none is. */
  readonly crl: string | null;
  /** Of the certificates that agents are given. */
  readonly agentLifetime: Duration;
  /** Nobody gets through the gRPC listener without one; else only agents and peers need it, or a token. */
  readonly requireClientCertificates: boolean;
}

const DAY_S = 86_400;

/** Keys of the api section. */
export const tlsFields = {
  tls_cert: z.string().min(1).optional(),
  tls_key: z.string().min(1).optional(),
  tls_ca: z.string().min(1).optional(),
  tls_ca_key: z.string().min(1).optional(),
  tls_crl: z.string().min(1).optional(),
  // Agents ask for the next one before two thirds of it are over; seconds are for tests.
  tls_agent_lifetime: span({ least: seconds(5), most: seconds(3_660 * DAY_S), preset: "90d" }),
  tls_require_client_certificates: z.boolean().default(false),
};

interface TlsFile {
  readonly tls_cert?: string | undefined;
  readonly tls_key?: string | undefined;
  readonly tls_ca?: string | undefined;
  readonly tls_ca_key?: string | undefined;
  readonly tls_crl?: string | undefined;
  readonly tls_agent_lifetime: Duration;
  readonly tls_require_client_certificates: boolean;
}

type Problem = { readonly path: string[]; readonly message: string };

export function tlsProblems(api: TlsFile): readonly Problem[] {
  const problems: Problem[] = [];
  if ((api.tls_cert === undefined) !== (api.tls_key === undefined))
    problems.push({ path: [api.tls_cert === undefined ? "tls_cert" : "tls_key"], message: "is missing: both or none" });
  if (api.tls_ca !== undefined && api.tls_cert === undefined)
    problems.push({ path: ["tls_ca"], message: "is of no use without tls_cert and tls_key" });
  const needAuthority = {
    tls_require_client_certificates: api.tls_require_client_certificates,
    tls_ca_key: api.tls_ca_key !== undefined,
    tls_crl: api.tls_crl !== undefined,
  };
  for (const [name, stated] of Object.entries(needAuthority))
    if (stated && api.tls_ca === undefined) problems.push({ path: [name], message: "needs tls_ca" });
  return problems;
}

export function completeTls(api: TlsFile): TlsConfig | null {
  if (api.tls_cert === undefined || api.tls_key === undefined) return null;
  return {
    cert: resolve(api.tls_cert),
    key: resolve(api.tls_key),
    ca: pathOf(api.tls_ca),
    caKey: pathOf(api.tls_ca_key),
    crl: pathOf(api.tls_crl),
    agentLifetime: api.tls_agent_lifetime,
    requireClientCertificates: api.tls_require_client_certificates,
  };
}

const pathOf = (stated: string | undefined): string | null => (stated === undefined ? null : resolve(stated));
