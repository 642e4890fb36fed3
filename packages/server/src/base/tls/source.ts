// The certificate in force. The files are checked periodically and on SIGHUP; new connections use a valid change at
// once, and open ones keep the old certificate. An invalid change is logged, and the last valid certificate stays.

import type { TlsConfig } from "../config/index.ts";
import type { Logger } from "../observe/index.ts";
import { readMaterial, type TlsMaterial } from "./material.ts";

export interface TlsSource {
  current(): TlsMaterial;
  readonly config: TlsConfig;
  /** Called with every new certificate. */
  onChange(taken: (material: TlsMaterial) => void): void;
  /** Checks now. */
  reload(): void;
  close(): void;
}

interface TlsSourceOptions {
  readonly config: TlsConfig;
  readonly logger: Logger;
  /** The result of a check that found a change. */
  readonly reloaded?: (result: "taken" | "refused") => void;
  readonly everyMs?: number;
}

/** A renewed certificate is valid long before the old one expires. */
const CHECK_INTERVAL_MS = 10_000;
const WARN_BEFORE_MS = 7 * 86_400_000;

/** Rejects when the initial files are not usable. */
export async function openTlsSource(options: TlsSourceOptions): Promise<TlsSource> {
  const { config, logger, reloaded, everyMs = CHECK_INTERVAL_MS } = options;
  let material = await readMaterial(config);
  let refused = "";
  let checking = Promise.resolve();
  const listeners: ((material: TlsMaterial) => void)[] = [];
  warnOfExpiry(material);

  /** One check after the other: an older one must not undo a newer one. */
  const reload = (): void => {
    checking = checking.then(check);
  };

  async function check(): Promise<void> {
    let fresh: TlsMaterial;
    try {
      fresh = await readMaterial(config);
    } catch (error) {
      const { message } = error as Error;
      if (message !== refused) {
        refused = message;
        reloaded?.("refused");
        logger.error({ reason: message }, "new certificate is not usable; keeping the current one");
      }
      return;
    }
    refused = "";
    const before = material;
    material = fresh;
    if (same(fresh, before)) return notifyOfRevocations(before);
    for (const taken of listeners) taken(material);
    reloaded?.("taken");
    logger.info({ serial: material.serial, until: new Date(material.notAfterMs) }, "new certificate in use");
    warnOfExpiry(material);
  }

  /** The revocation list and the signing key may change without the certificate. */
  function notifyOfRevocations(before: TlsMaterial): void {
    if (before.list === material.list) return;
    for (const taken of listeners) taken(material);
    logger.info({}, "new certificate revocation list in use");
  }

  function warnOfExpiry({ notAfterMs }: TlsMaterial): void {
    if (notAfterMs - Date.now() < WARN_BEFORE_MS)
      logger.warn({ until: new Date(notAfterMs) }, "certificate of this server expires soon");
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
