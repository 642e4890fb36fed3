// The certificate in force. The files are looked at from time to time and when asked to (SIGHUP); a change that makes
// sense is taken by new connections at once, while those that are open go on with what they began with. A change that
// makes none is said, and the last good one stays.

import type { TlsConfig } from "../config/tls.ts";
import type { Logger } from "../observe/index.ts";
import { readMaterial, type TlsMaterial } from "./material.ts";

export interface TlsSource {
  current(): TlsMaterial;
  readonly config: TlsConfig;
  /** Called with every new one. */
  onChange(taken: (material: TlsMaterial) => void): void;
  /** Looks now. */
  reload(): void;
  close(): void;
}

export interface TlsSourceOptions {
  readonly config: TlsConfig;
  readonly logger: Logger;
  /** How a look that found something new ended. */
  readonly reloaded?: (result: "taken" | "refused") => void;
  readonly everyMs?: number;
}

/** A renewed certificate is good long before the old one ends. */
const LOOK_EVERY_MS = 10_000;
const WARN_BEFORE_MS = 7 * 86_400_000;

/** Throws when there is nothing usable to begin with. */
export function openTlsSource({ config, logger, reloaded, everyMs = LOOK_EVERY_MS }: TlsSourceOptions): TlsSource {
  let material = readMaterial(config);
  let refused = "";
  const listeners: ((material: TlsMaterial) => void)[] = [];
  warnOfEnd(material);

  function reload(): void {
    let fresh: TlsMaterial;
    try {
      fresh = readMaterial(config);
    } catch (error) {
      const { message } = error as Error;
      if (message !== refused) {
        refused = message;
        reloaded?.("refused");
        logger.error({ reason: message }, "the new certificate is not usable; the old one stays");
      }
      return;
    }
    refused = "";
    if (same(fresh, material)) return;
    material = fresh;
    for (const taken of listeners) taken(material);
    reloaded?.("taken");
    logger.info({ serial: material.serial, until: new Date(material.notAfterMs) }, "a new certificate is in force");
    warnOfEnd(material);
  }

  function warnOfEnd({ notAfterMs }: TlsMaterial): void {
    if (notAfterMs - Date.now() < WARN_BEFORE_MS)
      logger.warn({ until: new Date(notAfterMs) }, "the certificate of this server ends soon");
  }

  const timer = setInterval(reload, everyMs);
  timer.unref();
  return {
    config,
    current: () => material,
    onChange: (taken) => void listeners.push(taken),
    reload,
    close: () => clearInterval(timer),
  };
}

const same = (a: TlsMaterial, b: TlsMaterial): boolean =>
  a.cert.equals(b.cert) && a.key.equals(b.key) && (a.ca ?? EMPTY).equals(b.ca ?? EMPTY);
const EMPTY = Buffer.alloc(0);
