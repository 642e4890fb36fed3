// The user guide is run as it is written: every block opened with `sh run`, in order, on a fresh
// cluster per page, in one shell per block. A line `# => text` states what the output must contain.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { cleanEnvironment, programPath, root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const GUIDE = "docs/users";
const pages = readdirSync(join(root, GUIDE)).filter((name) => name.endsWith(".md"));
const blocksOf = (page: string): readonly string[] =>
  [...readFileSync(join(root, GUIDE, page), "utf8").matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(
    (match) => match[1] ?? "",
  );

test("the guide has something to run", () => {
  expect(pages.flatMap(blocksOf).length).toBeGreaterThan(5);
});

describe.each(pages)("%s", (page) => {
  const cluster = useCluster({ nodes: 4, output: page === "checkpoints.md" });

  test("does what it says", async () => {
    for (const block of blocksOf(page)) {
      const { code, output } = await runBlock(block);
      expect(code, `${block}\n---- printed:\n${output}`).toBe(0);
      const expected = [...block.matchAll(/^# => (.*)$/gm)].map((match) => (match[1] ?? "").trim());
      for (const text of expected) expect(output, block).toContain(text);
    }
  });

  function runBlock(block: string): Promise<{ readonly code: number; readonly output: string }> {
    const path = `${dirname(programPath("lattice"))}:${process.env.PATH ?? ""}`;
    return new Promise((resolve) => {
      const shell = spawn("bash", ["-euo", "pipefail", "-c", block], {
        cwd: join(cluster.dir, "home"),
        env: cleanEnvironment({ ...cluster.cliEnvironment(), PATH: path }),
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      const keep = (chunk: Buffer): void => {
        output += chunk.toString();
      };
      shell.stdout.on("data", keep);
      shell.stderr.on("data", keep);
      shell.once("close", (code) => resolve({ code: code ?? -1, output }));
    });
  }
});
