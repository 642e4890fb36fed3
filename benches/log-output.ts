// Agent memory while a job prints 1 GB, which is stored and followed by one reader.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../tests/harness/eventually.ts";
import { cpuSeconds, residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below, withoutTarget } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const BYTES = 1e9;
const LINE = "epoch 17 step 004211 loss 0.173302 grad 1.52e-3 lr 2.99e-4 tokens/s 18211.4 mem 61.7 GB";
const AGENT_MB = 120;
const WITHIN_MS = 600_000;

export const logOutput: Bench = async (log) => {
  const store = mkdtempSync(join(tmpdir(), "lattice-bench-logs-"));
  const options = { nodes: 1, config: `logs:\n  store: ${store}\n`, agentArgs: ["--log-store", store] };
  try {
    return await withCluster(options, async (cluster) => {
      const agent = cluster.agent("node-1").pid;
      const server = cluster.server.pid;
      const most = { agent: 0, server: 0 };
      const sample = setInterval(() => {
        most.agent = Math.max(most.agent, residentBytes(agent));
        most.server = Math.max(most.server, residentBytes(server));
      }, 50);
      const began = performance.now();
      const before = cpuSeconds(agent);
      const id = await cluster.submit({ entrypoint: `yes '${LINE}' | head -c ${BYTES}` });
      const answer = await fetch(`${cluster.apiUrl}/api/v1/allocations/${id}/logs/stream?stream=stdout`);
      let read = 0;
      for await (const bytes of answer.body ?? []) read += bytes.length;
      if (read !== BYTES) throw new Error(`read ${read} of ${BYTES} bytes`);
      log(`read after ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      const place = join(store, "default", "default", id, "logs");
      await eventually({ what: "all of it is stored", withinMs: WITHIN_MS }, async () =>
        isComplete(join(place, "metadata", "node-1.json")) ? true : null,
      );
      clearInterval(sample);
      const seconds = (performance.now() - began) / 1_000;
      const folder = join(place, "stdout", "node-1");
      const chunks = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
      return [
        below("agent_memory_max", most.agent / 1e6, "MB", AGENT_MB),
        withoutTarget("server_memory_max", most.server / 1e6, "MB"),
        withoutTarget("agent_cpu", (cpuSeconds(agent) - before) * 1_000, "ms"),
        withoutTarget("printed_followed_and_stored", BYTES / 1e6 / seconds, "MB/s"),
        withoutTarget("stored", chunks.reduce((sum, size) => sum + size, 0) / 1e6, "MB"),
      ];
    });
  } finally {
    rmSync(store, { recursive: true, force: true, maxRetries: 9 });
  }
};

/** The file is rewritten with every chunk, and is complete with the last. */
function isComplete(path: string): boolean {
  try {
    const { complete } = JSON.parse(readFileSync(path, "utf8")) as { readonly complete: readonly unknown[] };
    return complete.length > 0;
  } catch {
    return false;
  }
}
