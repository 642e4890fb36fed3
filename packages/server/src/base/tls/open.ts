// Opens the configured certificate, if any, with its metrics.

import type { TlsConfig } from "../config/index.ts";
import type { Logger, Metrics } from "../observe/index.ts";
import { openTlsSource, type TlsSource } from "./source.ts";

interface Observers {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "certificateReloaded" | "certificateEnds" | "onScrape">;
}

/** Returns `null` without TLS. Rejects when the initial files are not usable. */
export async function openTls(config: TlsConfig | null, { logger, metrics }: Observers): Promise<TlsSource | null> {
  if (config === null) return null;
  const source = await openTlsSource({ config, logger, reloaded: metrics.certificateReloaded });
  metrics.onScrape(() => metrics.certificateEnds(source.current().notAfterMs));
  return source;
}
