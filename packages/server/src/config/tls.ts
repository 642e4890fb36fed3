// Certificates of the listeners: none, the server's own, or the server's own with an authority by which agents and
// peers prove who they are.

import { resolve } from "node:path";
import { z } from "zod";

export interface TlsConfig {
  /** Absolute paths of PEM files. */
  readonly cert: string;
  readonly key: string;
  /** Null: clients are not asked for certificates. */
  readonly ca: string | null;
  /** Nobody gets through the gRPC listener without one; else only agents and peers need it, or a token. */
  readonly requireClientCertificates: boolean;
}

/** Keys of the api section. */
export const tlsFields = {
  tls_cert: z.string().min(1).optional(),
  tls_key: z.string().min(1).optional(),
  tls_ca: z.string().min(1).optional(),
  tls_require_client_certificates: z.boolean().default(false),
};

interface TlsFile {
  readonly tls_cert?: string | undefined;
  readonly tls_key?: string | undefined;
  readonly tls_ca?: string | undefined;
  readonly tls_require_client_certificates: boolean;
}

type Problem = { readonly path: string[]; readonly message: string };

export function tlsProblems(api: TlsFile): readonly Problem[] {
  const problems: Problem[] = [];
  if ((api.tls_cert === undefined) !== (api.tls_key === undefined))
    problems.push({ path: [api.tls_cert === undefined ? "tls_cert" : "tls_key"], message: "is missing: both or none" });
  if (api.tls_ca !== undefined && api.tls_cert === undefined)
    problems.push({ path: ["tls_ca"], message: "is of no use without tls_cert and tls_key" });
  if (api.tls_require_client_certificates && api.tls_ca === undefined)
    problems.push({ path: ["tls_require_client_certificates"], message: "needs tls_ca" });
  return problems;
}

export function completeTls(api: TlsFile): TlsConfig | null {
  if (api.tls_cert === undefined || api.tls_key === undefined) return null;
  return {
    cert: resolve(api.tls_cert),
    key: resolve(api.tls_key),
    ca: api.tls_ca === undefined ? null : resolve(api.tls_ca),
    requireClientCertificates: api.tls_require_client_certificates,
  };
}
