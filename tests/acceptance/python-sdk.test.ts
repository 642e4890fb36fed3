// The Python client against a real cluster, by its own tests, on the Python that Debian brings. They also
// start servers of their own: one that they stop and start again, and one that wants tokens.
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { cleanEnvironment, root } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

/** Debian's, since its packages belong to it; another may come first on the path. */
const PYTHON = "/usr/bin/python3";
/** So that tests which are no longer found are missed. */
const LEAST_TESTS = 120;

const cluster = useCluster({ nodes: 4 });

test("the tests of the Python client pass", async () => {
  const { code, output } = await pytest();
  expect(code, output).toBe(0);
  const passed = Number(/(\d+) passed/.exec(output)?.[1] ?? "0");
  expect(passed, output).toBeGreaterThanOrEqual(LEAST_TESTS);
  expect(output).not.toMatch(/\d+ (failed|skipped|error)/);
});

test("its types hold, strictly", async () => {
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
