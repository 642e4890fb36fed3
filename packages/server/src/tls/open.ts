// The certificate that the configuration names, if any, with what is counted about it.

import type { TlsConfig } from "../config/tls.ts";
import type { Logger, Metrics } from "../observe/index.ts";
import { openTlsSource, type TlsSource } from "./source.ts";

interface Around {
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, "certificateReloaded" | "certificateEnds" | "onScrape">;
}

/** Null: without TLS. Rejects when there is nothing usable to begin with. */
export async function openTls(config: TlsConfig | null, { logger, metrics }: Around): Promise<TlsSource | null> {
  if (config === null) return null;
  const source = await openTlsSource({ config, logger, reloaded: metrics.certificateReloaded });
  metrics.onScrape(() => metrics.certificateEnds(source.current().notAfterMs));
  return source;
}
