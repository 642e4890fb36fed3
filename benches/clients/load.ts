// The loop of every load client: a number of connections, each with one call in flight, for a warm-up and then for a
// given time or number of calls.
import { quantile } from "../figure.ts";

export interface LoadSettings {
  readonly address: string;
  readonly connections: number;
  /** Duration of the run, ... */
  readonly seconds?: number;
  readonly warmUpSeconds?: number;
  /** ... or the total number of calls. */
  readonly calls?: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Makes one call on its connection; rejects when the server refuses it. */
export type Connection = () => Promise<void>;

export async function runLoad(settings: LoadSettings, connect: () => Connection): Promise<void> {
  const latencies: number[] = [];
  let failures = 0;
  let started = 0;
  let countFrom = performance.now() + (settings.warmUpSeconds ?? 0) * 1000;
  const end = settings.seconds === undefined ? Number.POSITIVE_INFINITY : countFrom + settings.seconds * 1000;
  const most = settings.calls ?? Number.POSITIVE_INFINITY;
  if (settings.seconds === undefined) countFrom = performance.now();

  const work = async (): Promise<void> => {
    const call = connect();
    while (started < most) {
      started += 1;
      const from = performance.now();
      if (from >= end) return;
      const failed = await call().then(
        () => false,
        (error: unknown) => {
          if (failures === 0) console.error(error);
          return true;
        },
      );
      const now = performance.now();
      if (from < countFrom || now > end) continue;
      if (failed) failures += 1;
      else latencies.push(now - from);
    }
  };
  await Promise.all(Array.from({ length: settings.connections }, work));
  const { user, system } = process.cpuUsage();
  const seconds = settings.seconds ?? (performance.now() - countFrom) / 1000;
  const result = {
    answers: latencies.length,
    failures,
    seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: quantile(latencies, 1),
    cpuSeconds: (user + system) / 1e6,
  };
  process.stdout.write(JSON.stringify(result), () => process.exit(0));
}
