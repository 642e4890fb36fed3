// Requests that are refused before anybody asks who makes them: bodies that cannot be read, paths that are not there, pages of other
// origins. They are in the access log too, with whoever the token says; a token that is no good leaves the name empty.

import { accessLog, type From, wasTold } from "../observe/access-log.ts";
import type { Headers, Principal } from "./auth/principal.ts";
import type { Door } from "./invoke.ts";

export interface Refusal {
  /** Nothing is written for one that the log has already. */
  readonly error: unknown;
  readonly code: string;
  readonly from: From;
  /** Null: none could be read. */
  readonly headers: Headers | null;
  /** Where it is known. */
  readonly rpc?: string;
}

/** Nobody need wait for it; it never rejects. */
export async function refusedEarly(
  door: Pick<Door, "logger" | "config" | "authenticator">,
  { error, code, from, headers, rpc }: Refusal,
): Promise<void> {
  if (wasTold(error)) return;
  const principal = headers === null ? null : await whoIs(door, headers);
  const { user = "", tenant } = principal ?? {};
  accessLog(door, { ...from, ...(rpc === undefined ? {} : { rpc }), user, tenant: tenant ?? "", code });
}

async function whoIs({ authenticator, config }: Pick<Door, "authenticator" | "config">, headers: Headers) {
  if (config.log.access === "none") return null;
  try {
    return (await authenticator.authenticate(headers)) as Principal;
  } catch {
    return null;
  }
}
