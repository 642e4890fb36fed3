// The sample job of the quick start, submitted, awaited and shown with the commands a user would type.

import { randomUUID } from "node:crypto";
import type { Printer } from "../../output/printer.ts";
import { capitalise } from "../../output/text.ts";
import { writeBytes } from "../../output/write-bytes.ts";
import { waitUntilEnded } from "../../wait/until-ended.ts";
import { reasonOf } from "../status/table.ts";
import type { Cluster } from "./cluster.ts";

const LINE = 'echo "Hello from $LATTICE_NODE, one of $LATTICE_NNODES nodes of allocation $LATTICE_ALLOC_ID"';
const DEMO_NODES = 2;

interface DemoOptions {
  readonly print: Printer;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Returns whether the sample completed. */
export async function runDemo(cluster: Cluster, { print, say, signal }: DemoOptions): Promise<boolean> {
  const { client } = cluster;
  const nodes = Math.min(DEMO_NODES, cluster.description.nodes.length);
  say(`\n$ lattice submit --nodes=${nodes} --name=hello --walltime=5m -- sh -c '${LINE}'`);
  const submission = {
    allocation: {
      name: "hello",
      command: ["/bin/sh", "-c", LINE],
      resources: { nodes: { min: nodes, max: nodes } },
      lifecycle: { walltime_seconds: 300 },
    },
  };
  const { id } = await client.submit(submission, { requestId: randomUUID(), signal });
  say(`Submitted allocation ${id}`);
  const ended = await waitUntilEnded(client, id, { signal });
  say(`\n$ lattice logs ${id}`);
  if (!print.structured) await writeBytes(client.logs(id, { stream: "stdout" }, { signal }));
  if (ended.state === "completed") return true;
  say(`The sample job ended as ${capitalise(ended.state)}: ${reasonOf(ended)}`);
  return false;
}
