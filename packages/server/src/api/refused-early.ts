// Logs requests that are refused before authentication: unreadable bodies, unknown paths, foreign origins. The access log
// names the user of the token when the token is valid.

import type { Headers, Principal } from "../base/auth/principal.ts";
import { accessLog, type From, isLogged } from "../base/observe/access-log.ts";
import type { ApiContext } from "./invoke.ts";

export interface Refusal {
  /** Nothing is written for one that the log has already. */
  readonly error: unknown;
  readonly code: string;
  readonly from: From;
  /** `null` when they could not be read. */
  readonly headers: Headers | null;
  /** Where it is known. */
  readonly rpc?: string;
}

/** Never rejects; callers need not await it. */
export async function refusedEarly(
  door: Pick<ApiContext, "logger" | "config" | "authenticator">,
  { error, code, from, headers, rpc }: Refusal,
): Promise<void> {
  if (isLogged(error)) return;
  const principal = headers === null ? null : await whoIs(door, headers);
  const { user = "", tenant } = principal ?? {};
  accessLog(door, { ...from, ...(rpc === undefined ? {} : { rpc }), user, tenant: tenant ?? "", code });
}

async function whoIs({ authenticator, config }: Pick<ApiContext, "authenticator" | "config">, headers: Headers) {
  if (config.log.access === "none") return null;
  try {
    return (await authenticator.authenticate(headers)) as Principal;
  } catch {
    return null;
  }
}
