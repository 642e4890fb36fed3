// Looks now and then whether all that passes the borders of the domains on this node is still there: a process that was killed is
// started again, and work inside reaches what it may reach once more. What went through it at that moment is cut.

import type { Logger } from "pino";
import type { After } from "../after.ts";
import type { NetworkDriver, NetworkPlace } from "./driver.ts";

export interface KeepOptions {
  readonly driver: Pick<NetworkDriver, "kind" | "keep">;
  /** Of the attempts that run here. */
  readonly places: () => readonly NetworkPlace[];
  readonly after: After;
  readonly log: Logger;
}

const LOOK_MS = 5_000;

/** Answers how to stop. */
export function keepNetworks({ driver, places, after, log }: KeepOptions): () => void {
  let closed = false;
  let cancel: () => void = () => undefined;
  async function look(): Promise<void> {
    for (const place of places()) {
      if (closed) return;
      try {
        for (const what of await driver.keep(place))
          log.warn({ attempt: place.key, what }, "a way over a border was gone");
      } catch (error) {
        log.error({ attempt: place.key, error: (error as Error).message }, "a way over a border is gone and stays so");
      }
    }
    plan();
  }
  function plan(): void {
    if (!closed) cancel = after(LOOK_MS, () => void look());
  }
  if (driver.kind === "linux") plan();
  return () => {
    closed = true;
    cancel();
  };
}
