// The agent's identity from flags, and from the environment where a flag is missing.

import type { IdentityOptions } from "../identity/find.ts";

export interface IdentityFlags {
  bootstrapCert?: string;
  bootstrapKey?: string;
  bootstrapCa?: string;
}

interface ShownIdentity {
  readonly identity: IdentityOptions;
  /** Servers have https:// URLs and no configured authority. */
  readonly secure: boolean;
}

const SPIRE_SOCKET = "/run/spire/agent.sock";

/** Returns null when only some of the files that belong together are named. */
export function identityOf(
  flags: IdentityFlags,
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
): ShownIdentity | null {
  const cert = flags.bootstrapCert ?? env.LATTICE_BOOTSTRAP_CERT;
  const key = flags.bootstrapKey ?? env.LATTICE_BOOTSTRAP_KEY;
  const ca = flags.bootstrapCa ?? env.LATTICE_BOOTSTRAP_CA;
  const named = [cert, key, ca].filter((path) => path !== undefined && path !== "").length;
  const token = env.LATTICE_AGENT_TOKEN ?? "";
  const authority = named === 1 && token !== "" && ca !== undefined && ca !== "" ? ca : null;
  if (named !== 0 && named !== 3 && authority === null) return null;
  const files = named === 3 ? { cert: cert ?? "", key: key ?? "", ca: ca ?? "" } : null;
  return {
    identity: { spireSocket: env.LATTICE_SPIRE_SOCKET ?? SPIRE_SOCKET, files, authority },
    secure: authority !== null || argv.some((word) => word.includes("https://")),
  };
}
