// A stream may outlive the token it was opened with. While one is open the token is looked at again
// from time to time; when it has expired, its keys are gone, or its bearer may do something else now,
// the stream ends. Where a client shows another token meanwhile, that is the one that is looked at.

import { ProblemError, problemOf } from "@lattice/wire";
import type { Authenticator } from "./authenticator.ts";
import type { Headers, Principal } from "./principal.ts";

export interface TokenWatch {
  /** Why the stream was ended from here; null while it was not. */
  lapsed(): ProblemError | null;
  close(): void;
}

interface Parts {
  readonly authenticator: Authenticator;
  readonly config: {
    readonly api: { readonly auth: { readonly kind: string }; readonly tokenRecheckInterval: number };
  };
}

/** `same` says whether the bearer may do what it could when the stream began. */
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
      lapsed = new ProblemError("unauthenticated", { detail: "What you may do has changed; open the stream again." });
      end(lapsed);
    };
    authenticator
      .again(headers)
      .then(changed)
      .catch((error: unknown) => {
        // A provider that does not answer says nothing about the token.
        if (problemOf(error).code === "identity_unavailable") return;
        lapsed = error instanceof ProblemError ? error : new ProblemError("unauthenticated", { detail: String(error) });
        end(lapsed);
      });
  }, config.api.tokenRecheckInterval);
  timer.unref();
  return { lapsed: () => lapsed, close: () => clearInterval(timer) };
}
