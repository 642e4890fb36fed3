// Checks the token of an open stream again at an interval, since a stream may outlive its token. The stream ends when the
// token has expired, its keys are gone, or the rights of its user have changed. A renewed token replaces the first one.

import { ProblemError, problemOf } from "@lattice/wire";
import type { Authenticator } from "./authenticator.ts";
import type { Headers, Principal } from "./principal.ts";

export interface TokenWatch {
  /** Returns the reason when this watch has ended the stream, else `null`. */
  lapsed(): ProblemError | null;
  close(): void;
}

interface Parts {
  readonly authenticator: Authenticator;
  readonly config: {
    readonly api: { readonly auth: { readonly kind: string }; readonly tokenRecheckInterval: number };
  };
}

/** `same` returns whether the caller has the same rights as at the start of the stream. */
export function watchToken(
  { authenticator, config }: Parts,
  headers: Headers,
  end: (why: ProblemError) => void,
  same: (now: Principal) => boolean = () => true,
): TokenWatch {
  if (config.api.auth.kind === "none") return { lapsed: () => null, close: () => {} };
  let lapsed: ProblemError | null = null;
  const timer = setInterval(() => {
    const changed = (now: Principal) => {
      if (same(now)) return;
      lapsed = new ProblemError("unauthenticated", { detail: "Your rights have changed; open the stream again." });
      end(lapsed);
    };
    authenticator
      .again(headers)
      .then(changed)
      .catch((error: unknown) => {
        // An unavailable identity provider does not make the token invalid.
        if (problemOf(error).code === "identity_unavailable") return;
        lapsed = error instanceof ProblemError ? error : new ProblemError("unauthenticated", { detail: String(error) });
        end(lapsed);
      });
  }, config.api.tokenRecheckInterval);
  timer.unref();
  return { lapsed: () => lapsed, close: () => clearInterval(timer) };
}
