// Runs the operating pages for a single server, in order, on a cluster of one server and one node. Folders and node
// names of a page are replaced by those of the test.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf, runBlock } from "../harness/pages.ts";
import { useCluster } from "../harness/use-cluster.ts";

const PAGES = [
  "audit.md",
  "identity.md",
  "nodes.md",
  "running-a-server.md",
  "settings.md",
  "sharing-nodes.md",
  "tenants-and-weights.md",
  "tls.md",
];
/** An agent with a registry that is created while it runs. */
const REGISTRY = join("/tmp", `lattice-docs-registry-${process.pid}`);
const cluster = useCluster({ nodes: 1, agentArgs: ["--registry", REGISTRY, "--cache-min-free", "0"] });

const moved = (text: string): string =>
  text
    .replaceAll(/(?<=^|[\s"=])\/etc\/lattice/gm, join(cluster.dir, "etc"))
    .replaceAll("/srv/uenv", REGISTRY)
    .replaceAll(/(?<=[\s=])n1(?=\s|$)/gm, "node-1");

test.each(PAGES)("%s does what it says", async (page) => {
  const blocks = blocksOf(join("docs/operating", page)).map(moved);
  expect(blocks.length).toBeGreaterThan(0);
  const folder = join(cluster.dir, page);
  mkdirSync(join(folder, "prgenv", "bin"), { recursive: true });
  mkdirSync(REGISTRY, { recursive: true });
  writeFileSync(join(folder, "notebook.sh"), "#!/bin/sh\nsleep 1\n", { mode: 0o755 });
  for (const block of blocks) await runBlock(block, { cwd: folder, env: cluster.cliEnvironment() });
});
