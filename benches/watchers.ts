// Server memory and CPU for 1,000 event streams, each with a token and its own visibility, at ten events per second.
import { type ClientRequest, request } from "node:http";
import { eventually, sleep } from "../tests/harness/eventually.ts";
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { withTokens } from "./with-tokens.ts";

const WATCHERS = 1_000;
const PER_SECOND = 10;
const SECONDS = 20;
const MEMORY_MB = 300;
const CPU_PERCENT = 10;

export const watchers: Bench = (log) =>
  withTokens(async (cluster, who) => {
    const [host = "", port = ""] = cluster.restAddress.split(":");
    let events = 0;
    let open = 0;
    const calls: ClientRequest[] = [];
    for (let n = 0; n < WATCHERS; n += 1) {
      const headers = { accept: "text/event-stream", ...who };
      const call = request({ host, port, path: "/api/v1/events", headers, agent: false }, (answer) => {
        open += 1;
        answer.on("data", (bytes: Buffer) => {
          for (let at = bytes.indexOf("\ndata:"); at >= 0; at = bytes.indexOf("\ndata:", at + 1)) events += 1;
        });
      });
      call.on("error", () => undefined).end();
      calls.push(call);
    }
    await eventually({ what: "all watchers are connected", withinMs: 60_000 }, async () =>
      open === WATCHERS ? true : null,
    );
    log(`${open} watchers, ${(residentBytes(cluster.server.pid) / 1e6).toFixed(0)} MB`);
    const before = cpuSeconds(cluster.server.pid);
    const began = performance.now();
    let made = 0;
    while (performance.now() - began < SECONDS * 1_000) {
      await submit(cluster.apiUrl, who);
      made += 1;
      await sleep(Math.max(0, began + (made * 1_000) / PER_SECOND - performance.now()));
    }
    const seconds = (performance.now() - began) / 1_000;
    const used = cpuSeconds(cluster.server.pid) - before;
    await eventually({ what: "every watcher has heard of everything", withinMs: 30_000 }, async () =>
      events >= made * WATCHERS ? true : null,
    );
    const memory = residentBytes(cluster.server.pid) / 1e6;
    for (const call of calls) call.destroy();
    return [
      below("server_memory", memory, "MB", MEMORY_MB),
      below("server_cpu", (used / seconds) * 100, "% of a core", CPU_PERCENT),
      withoutTarget("events", events / seconds, "events/s"),
    ];
  });

async function submit(url: string, who: Readonly<Record<string, string>>): Promise<void> {
  const headers = { "content-type": "application/json", ...who };
  const answer = await fetch(`${url}/api/v1/allocations`, { method: "POST", headers, body: '{"entrypoint":"true"}' });
  if (!answer.ok) throw new Error(`the server responded with status ${answer.status}`);
  await answer.arrayBuffer();
}
