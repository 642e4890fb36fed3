// Periodically checks the gateway processes of the domains on this node: a killed one is started again, so that work
// inside reaches its endpoints once more. Connections through it are cut.

import type { Logger } from "pino";
import type { After } from "../base/after.ts";
import type { NetworkDriver, NetworkPlace } from "./driver.ts";

interface KeepOptions {
  readonly driver: Pick<NetworkDriver, "kind" | "keep">;
  /** Networks of the running attempts. */
  readonly places: () => readonly NetworkPlace[];
  readonly after: After;
  readonly log: Logger;
}

const LOOK_MS = 5_000;

/** Returns a function that stops the checks. */
export function keepNetworks({ driver, places, after, log }: KeepOptions): () => void {
  let closed = false;
  let cancel: () => void = () => undefined;
  async function look(): Promise<void> {
    for (const place of places()) {
      if (closed) return;
      try {
        for (const what of await driver.keep(place))
          log.warn({ attempt: place.key, what }, "network gateway process was missing; restarted");
      } catch (error) {
        log.error(
          { attempt: place.key, error: (error as Error).message },
          "network gateway process is missing and cannot be restarted",
        );
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
