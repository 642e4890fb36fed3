// Fills a cluster with submissions over REST. The run times on hollow nodes are spread over a range, so that allocations
// do not all end at once.
import { Agent, request } from "node:http";
import type { Portion } from "../scale/state.ts";

interface FillSettings {
  readonly address: string;
  readonly connections: number;
  readonly portion: Portion;
}

const settings = JSON.parse(process.argv[2] ?? "{}") as FillSettings;
const [host = "", port = ""] = settings.address.split(":");
const agent = new Agent({ keepAlive: true, maxSockets: settings.connections });
/** On a busy machine the leader may change meanwhile. */
const RETRY_MS = 200;
/** A prime, so that neighbours in the queue have different run times. */
const SCATTER = 7919;
const began = performance.now();

let started = 0;
let answers = 0;
let failures = 0;
const work = async (): Promise<void> => {
  while (started < settings.portion.count) {
    const n = started;
    started += 1;
    const body = bodyOf(settings.portion, n);
    while (!(await submit(body))) {
      failures += 1;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    answers += 1;
  }
};
await Promise.all(Array.from({ length: settings.connections }, work));
const seconds = (performance.now() - began) / 1000;
process.stdout.write(JSON.stringify({ answers, failures, seconds }), () => process.exit(0));

function bodyOf({ widths, count, runtimeMs: [from, to] }: Portion, n: number): Buffer {
  const runtime = Math.round(from + ((to - from) * ((n * SCATTER) % count)) / count);
  const body = {
    entrypoint: "./step",
    nodes: widths[n % widths.length],
    walltime: "2h",
    env: { LATTICE_HOLLOW_RUNTIME_MS: String(runtime) },
  };
  return Buffer.from(JSON.stringify(body));
}

function submit(payload: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": payload.length };
    const sent = request({ host, port, method: "POST", path: "/api/v1/allocations", headers, agent }, (answer) => {
      answer.resume();
      answer.once("error", () => resolve(false));
      answer.once("end", () => resolve(answer.statusCode === 200));
    });
    sent.once("error", () => resolve(false));
    sent.end(payload);
  });
}
