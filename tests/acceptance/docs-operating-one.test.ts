// The pages about looking after a cluster are run as they are written: every block opened with `sh run`, in order, on a
// cluster of one server and one node. Folders of the machine that a page names become folders of the test, and the
// page's node the test's. A line `# => text` states what the output must contain.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cleanEnvironment, programPath, root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const PAGES = [
  "audit.md",
  "identity.md",
  "nodes.md",
  "running-a-server.md",
  "settings.md",
  "sharing-nodes.md",
  "tls.md",
];
/** An agent that asks a registry which is made while it runs. */
const REGISTRY = join("/tmp", `lattice-docs-registry-${process.pid}`);
const cluster = useCluster({ nodes: 1, agentArgs: ["--registry", REGISTRY, "--cache-min-free", "0"] });

const moved = (text: string): string =>
  text
    .replaceAll(/(?<=^|[\s"=])\/etc\/lattice/gm, join(cluster.dir, "etc"))
    .replaceAll("/srv/uenv", REGISTRY)
    .replaceAll(/(?<=[\s=])n1(?=\s|$)/gm, "node-1");

const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, "docs/operating", page), "utf8").matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map((match) =>
    moved(match[1] ?? ""),
  );

describe.each(PAGES)("%s", (page) => {
  test("does what it says", async () => {
    const blocks = blocksOf(page);
    expect(blocks.length).toBeGreaterThan(0);
    const folder = join(cluster.dir, page);
    mkdirSync(join(folder, "prgenv", "bin"), { recursive: true });
    mkdirSync(REGISTRY, { recursive: true });
    writeFileSync(join(folder, "notebook.sh"), "#!/bin/sh\nsleep 1\n", { mode: 0o755 });
    for (const block of blocks) {
      const { code, output } = await run(folder, block);
      expect(code, `${block}\n---- printed:\n${output}`).toBe(0);
      for (const [, text = ""] of block.matchAll(/^# => (.*)$/gm)) expect(output, block).toContain(text.trim());
    }
  });
});

function run(cwd: string, block: string): Promise<{ readonly code: number; readonly output: string }> {
  const path = `${dirname(programPath("lattice"))}:${process.env.PATH ?? ""}`;
  return new Promise((resolve) => {
    const env = cleanEnvironment({ ...cluster.cliEnvironment(), PATH: path });
    const shell = spawn("bash", ["-euo", "pipefail", "-c", block], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    shell.stdout.on("data", keep);
    shell.stderr.on("data", keep);
    shell.once("close", (code) => resolve({ code: code ?? -1, output }));
  });
}
