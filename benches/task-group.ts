// A task group of 100,000 elements: how long its submission takes, and what the server holds afterwards.
import { residentBytes } from "../tests/harness/processes.ts";
import { type Bench, below } from "./figure.ts";
import { withCluster } from "./with-cluster.ts";

const ELEMENTS = 100_000;
const MOST_SECONDS = 1;
const MOST_MB = 400;

export const taskGroup: Bench = () =>
  withCluster({ nodes: 0 }, async (cluster) => {
    const begun = performance.now();
    await cluster.submit({ command: ["/bin/true"], task_group: { start: 0, end: ELEMENTS - 1 } });
    const seconds = (performance.now() - begun) / 1_000;
    return [
      below("accepted", seconds, "s", MOST_SECONDS),
      below("server_memory", residentBytes(cluster.server.pid) / 1_000_000, "MB", MOST_MB),
    ];
  });
