// Runs the Python client's own tests against a real cluster, on Debian's Python. They also start servers: one that
// they restart, and one with tokens.
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { cleanEnvironment, root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

/** Debian's, because its packages belong to it; another may come first on the PATH. */
const PYTHON = "/usr/bin/python3";
/** A minimum, so that missing tests are noticed. */
const MIN_TESTS = 120;

const cluster = useCluster({ nodes: 4 });

test("the tests of the Python client pass", async () => {
  const { code, output } = await pytest();
  expect(code, output).toBe(0);
  const passed = Number(/(\d+) passed/.exec(output)?.[1] ?? "0");
  expect(passed, output).toBeGreaterThanOrEqual(MIN_TESTS);
  expect(output).not.toMatch(/\d+ (failed|skipped|error)/);
});

test("the Python client passes strict type checks", async () => {
  const { code, output } = await python("mypy", "--strict", "--cache-dir=/dev/null", "sdks/python/lattice_sdk");
  expect(code, output).toBe(0);
});

const pytest = (): Promise<Ended> => python("pytest", "-q", "sdks/python");

interface Ended {
  readonly code: number;
  readonly output: string;
}

function python(...module: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(PYTHON, ["-B", "-m", ...module], {
      cwd: root,
      env: cleanEnvironment(cluster.cliEnvironment()),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (error) => resolve({ code: -1, output: String(error) }));
    child.once("close", (code) => resolve({ code: code ?? -1, output }));
  });
}
