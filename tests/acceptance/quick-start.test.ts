// The first five minutes: `npm start`, `lattice up`, Ctrl-C, and `up` again on the same data.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { endProcessesIn, processesIn } from "../harness/processes.ts";
import { cleanEnvironment, programPath, root } from "../harness/program.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-up-"));
afterAll(async () => {
  await endProcessesIn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number>;
}

test("npm start -- --exit runs a sample job, shows its output and exits with 0, twice in a row", async () => {
  const data = join(folder, "start");
  for (const id of [1, 2]) {
    const run = start("npm", ["start", "--", "--exit", "--data-dir", data, "--port", "0", "--grpc-port", "0"]);
    const code = await run.ended;
    expect(code, run.output()).toBe(0);
    // The second run continues where the first stopped.
    expect(run.output()).toContain(`Submitted allocation ${id}\n`);
    expect(run.output()).toMatch(new RegExp(`Hello from node-\\d, one of 2 nodes of allocation ${id}\n`));
    await eventually({ what: "nothing is left running" }, () => (processesIn(data).length === 0 ? true : null));
  }
});

test("a data directory in use is refused, and taken over after a kill", async () => {
  const data = join(folder, "served");
  // As `npm start` runs it: its command line does not contain `up`.
  const first = start(process.execPath, ["tools/start.mjs", "--data-dir", data, "--port", "0", "--grpc-port", "0"]);
  await urlOf(first);
  const second = up(data, ["--nodes", "1"]);
  expect(await second.ended, second.output()).not.toBe(0);
  expect(second.output()).toMatch(/already running from .*served/);
  expect(first.child.exitCode).toBeNull();
  await eventually({ what: "the sample has run" }, () =>
    first.output().includes("The cluster runs until Ctrl-C") ? true : null,
  );

  first.child.kill("SIGKILL");
  await first.ended;
  const left = processesIn(data);
  expect(left.length, "a killed `up` leaves its programs behind").toBeGreaterThan(0);
  const third = up(data);
  await urlOf(third);
  expect(third.output()).toMatch(/Stopping \d+ processes of an earlier cluster/);
  expect(left.filter((pid) => processesIn(data).includes(pid))).toEqual([]);
  third.child.kill("SIGINT");
  expect(await third.ended).toBe(0);
});

test("lattice up serves, stops on Ctrl-C, and continues on the same data", async () => {
  const data = join(folder, "up");
  const first = up(data);
  const url = await urlOf(first);
  const env = { LATTICE_API_URL: url, HOME: folder };
  const nodes = await eventually({ what: "four nodes are ready" }, async () => {
    const { stdout } = await runCli(["nodes", "-o", "json"], { env });
    return (stdout.match(/"state": ?"ready"/g) ?? []).length === 4 ? stdout : null;
  });
  expect(nodes).toBeTruthy();
  const once = ["submit", "-q", "--request-id", "once-only", "--", "true"];
  const asked = (await runCli(once, { env })).stdout.trim();
  const submitted = await runCli(["submit", "--", "echo", "still here"], { env });
  const id = /\d+/.exec(submitted.stdout)?.[0] ?? "";
  await eventually({ what: "the job has ended" }, async () =>
    (await runCli(["status", id, "-o", "json"], { env })).stdout.includes('"completed"') ? true : null,
  );
  first.child.kill("SIGINT");
  expect(await first.ended).toBe(0);
  await eventually({ what: "all programs of the cluster have ended" }, () =>
    processesIn(data).length === 0 ? true : null,
  );

  const second = up(data);
  const secondUrl = await urlOf(second);
  const again = { LATTICE_API_URL: secondUrl, HOME: folder };
  expect(asked).toMatch(/^\d+$/);
  expect((await runCli(once, { env: again })).stdout.trim()).toBe(asked);
  expect((await runCli(["status", id, "-o", "json"], { env: again })).stdout).toContain('"completed"');
  const log = await eventually({ what: "its log can be read" }, async () => {
    const { stdout, code } = await runCli(["logs", id], { env: again });
    return code === 0 ? stdout : null;
  });
  expect(log).toBe("still here\n");
  second.child.kill("SIGINT");
  expect(await second.ended).toBe(0);
});

test("two clusters run side by side", async () => {
  const [one, two] = [up(join(folder, "one"), ["--nodes", "1"]), up(join(folder, "two"), ["--nodes", "2"])];
  const urls = await Promise.all([urlOf(one), urlOf(two)]);
  expect(new Set(urls).size).toBe(2);
  for (const [n, url] of urls.entries()) {
    await eventually({ what: `cluster ${n + 1} has its nodes` }, async () => {
      const { stdout } = await runCli(["nodes", "-o", "json"], { env: { LATTICE_API_URL: url, HOME: folder } });
      return (stdout.match(/"state": ?"ready"/g) ?? []).length === n + 1 ? true : null;
    });
  }
  one.child.kill("SIGTERM");
  two.child.kill("SIGTERM");
  expect(await Promise.all([one.ended, two.ended])).toEqual([0, 0]);
});

function up(data: string, more: readonly string[] = ["--nodes", "4"]): Running {
  return start(process.execPath, [
    programPath("lattice"),
    "up",
    "--data-dir",
    data,
    "--port",
    "0",
    "--grpc-port",
    "0",
    ...more,
  ]);
}

async function urlOf(run: Running): Promise<string> {
  return await eventually({ what: "the cluster says where it serves" }, () => {
    if (run.child.exitCode !== null) throw new Error(`it ended with ${run.child.exitCode}: ${run.output()}`);
    return /http:\/\/127\.0\.0\.1:\d+/.exec(run.output())?.[0] ?? null;
  });
}

function start(command: string, args: readonly string[]): Running {
  const child = spawn(command, [...args], {
    cwd: root,
    env: cleanEnvironment({ HOME: folder, LATTICE_TEST_FOLDER: folder }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const keep = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  return { child, output: () => text, ended };
}
