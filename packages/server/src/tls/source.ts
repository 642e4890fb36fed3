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

/** Rejects when there is nothing usable to begin with. */
export async function openTlsSource(options: TlsSourceOptions): Promise<TlsSource> {
  const { config, logger, reloaded, everyMs = LOOK_EVERY_MS } = options;
  let material = await readMaterial(config);
  let refused = "";
  let looking = Promise.resolve();
  const listeners: ((material: TlsMaterial) => void)[] = [];
  warnOfEnd(material);

  /** One look after the other: an older one must not undo what a newer one has found. */
  const reload = (): void => {
    looking = looking.then(look);
  };

  async function look(): Promise<void> {
    let fresh: TlsMaterial;
    try {
      fresh = await readMaterial(config);
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
    const before = material;
    material = fresh;
    if (same(fresh, before)) return said(before);
    for (const taken of listeners) taken(material);
    reloaded?.("taken");
    logger.info({ serial: material.serial, until: new Date(material.notAfterMs) }, "a new certificate is in force");
    warnOfEnd(material);
  }

  /** Who was called back, and with what is signed, may change without the certificate. */
  function said(before: TlsMaterial): void {
    if (before.list === material.list) return;
    for (const taken of listeners) taken(material);
    logger.info({}, "a new list of revoked certificates is in force");
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
