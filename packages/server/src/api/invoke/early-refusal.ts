// Logs requests that are refused before authentication: unreadable bodies, unknown paths, foreign origins. The access log
// names the user of the token when the token is valid.

import type { Headers, Principal } from "../../base/auth/principal.ts";
import { accessLog, type From, isLogged } from "../../base/observe/access-log.ts";
import type { ApiContext } from "./invoke.ts";

interface EarlyRefusal {
  /** An error that was logged before is not logged again. */
  readonly error: unknown;
  readonly code: string;
  readonly from: From;
  /** `null` when they could not be read. */
  readonly headers: Headers | null;
  /** Omitted when unknown. */
  readonly rpc?: string;
}

/** Never rejects; callers need not await it. */
export async function logEarlyRefusal(
  api: Pick<ApiContext, "logger" | "config" | "authenticator">,
  { error, code, from, headers, rpc }: EarlyRefusal,
): Promise<void> {
  if (isLogged(error)) return;
  const principal = headers === null ? null : await callerOf(api, headers);
  const { user = "", tenant } = principal ?? {};
  accessLog(api, { ...from, ...(rpc === undefined ? {} : { rpc }), user, tenant: tenant ?? "", code });
}

async function callerOf({ authenticator, config }: Pick<ApiContext, "authenticator" | "config">, headers: Headers) {
  if (config.log.access === "none") return null;
  try {
    return (await authenticator.authenticate(headers)) as Principal;
  } catch {
    return null;
  }
}
