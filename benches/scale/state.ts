// The state of the scale benches: 10,000 busy nodes and 100,000 allocations. 10,000 run for up to 25 minutes, so that
// about seven end and seven start per second; 80,000 are pending, one in four for several nodes; 10,000 have ended, as
// many as the state keeps. All are submitted and run normally.
import { eventually } from "../../tests/harness/eventually.ts";
import { request } from "../../tests/harness/rest.ts";
import type { Progress } from "../figure.ts";
import { runClient } from "../load-client.ts";

export interface Portion {
  readonly count: number;
  /** Requested numbers of nodes, in turn. */
  readonly widths: readonly number[];
  /** Minimum and maximum. */
  readonly runtimeMs: readonly [number, number];
}

export interface Scale {
  readonly nodes: number;
  readonly finished: number;
  readonly running: number;
  readonly pending: number;
}

/** Scales the state down, to try a bench on a busy machine; published figures use the full state. */
const SHARE = Number(process.env.BENCH_SHARE ?? 1);

export const FULL: Scale = {
  nodes: 10_000 * SHARE,
  finished: 10_000 * SHARE,
  running: 10_000 * SHARE,
  pending: 80_000 * SHARE,
};

const MINUTE_MS = 60_000;
const LONG: readonly [number, number] = [MINUTE_MS / 2, 25 * MINUTE_MS];
const CONNECTIONS = 32;
const FILL_WITHIN_MS = 900_000;

/** `url` is that of the leader; its nodes must be connected. */
export async function fill(url: string, scale: Scale, log: Progress): Promise<void> {
  const address = url.replace("http://", "");
  const put = async (what: string, portion: Portion): Promise<void> => {
    const { answers, failures, seconds } = await runClient("fill", { address, connections: CONNECTIONS, portion });
    const retried = failures === 0 ? "" : `, ${failures} tries refused`;
    log(`${answers} submitted that ${what}, ${Math.round(answers / seconds)} per second${retried}`);
  };
  const until = (state: string, least: number): Promise<number> =>
    eventually({ what: `${least} are ${state}`, withinMs: FILL_WITHIN_MS, everyMs: 500 }, async () => {
      const total = await totalOf(url, state);
      return total >= least ? total : null;
    });

  await put("end at once", { count: scale.finished, widths: [1], runtimeMs: [0, 0] });
  await until("completed", Math.min(scale.finished, KEPT));
  await put("run long", { count: scale.running, widths: [1], runtimeMs: LONG });
  await until("running", scale.running * 0.99);
  await put("wait", { count: scale.pending, widths: WIDTHS, runtimeMs: LONG });
  await until("pending", scale.pending * 0.9);
}

export async function totalOf(url: string, state: string): Promise<number> {
  const path = `/api/v1/allocations?state=${state}&page_size=1`;
  return (await request<{ readonly total?: number }>(url, "GET", path)).body.total ?? 0;
}

/** One in four needs more than one node. */
const WIDTHS = [1, 1, 1, 4, 1, 1, 1, 16, 1, 1, 1, 2];
/** Finished records that the state keeps; older ones are in the history. */
const KEPT = 10_000;
