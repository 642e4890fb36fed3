// `lattice up` of root on a machine with other accounts: each job runs as its submitter, whatever name a client states.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { cleanEnvironment, programPath } from "../harness/program.ts";
import { useAccount } from "./accounts.ts";

const folder = mkdtempSync("/var/tmp/lattice-local-users-");
const bob = useAccount("b");
const eve = useAccount("e");
let up: ChildProcess;
let output = "";
let url = "";

beforeAll(async () => {
  const args = [programPath("lattice"), "up", "--nodes", "2", "--port", "0", "--grpc-port", "0", "--data-dir", folder];
  up = spawn(process.execPath, args, {
    env: cleanEnvironment({ HOME: folder }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [up.stdout, up.stderr]) {
    stream?.on("data", (bytes: Buffer) => {
      output += bytes.toString();
    });
  }
  url = await eventually({ what: "the cluster is up" }, () => /Lattice is up: (\S+)/.exec(output)?.[1] ?? null);
});

afterAll(async () => {
  up.kill("SIGINT");
  await new Promise((resolve) => up.once("exit", resolve));
  await endProcessesIn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const lattice = (words: string, env = ""): string =>
  `cd "$HOME"; ${env} LATTICE_API_URL=${url} ${process.execPath} ${programPath("lattice")} ${words}`;
const failure = (script: string): string => `if ${script} 2>&1; then echo done; fi`;

test("the start says whose jobs run as whom", () => {
  expect(output).toContain("each job runs as its submitter, and only jobs of root as root");
});

test("a job of another account runs as that account, and one of root as root", async () => {
  const id = bob.run(lattice("submit -q --wait -- id -un")).trim();
  expect(bob.run(lattice(`logs ${id}`))).toBe(`${bob.name}\n`);
  const env = { LATTICE_API_URL: url, HOME: folder };
  const own = (await runCli(["submit", "-q", "--wait", "--", "id", "-un"], { env })).stdout.trim();
  expect((await runCli(["logs", own], { env })).stdout).toBe("root\n");
});

test.each(["", "LATTICE_USER=root", "LATTICE_USER=BOB"])("no name of a client gives its rights: %j", (stated) => {
  const env = stated.replace("BOB", bob.name);
  const id = bob.run(lattice("submit -q -- sleep 300")).trim();
  for (const words of [`cancel ${id}`, `logs ${id}`, `attach ${id}`, "node drain node-1 --reason x"])
    expect(eve.run(failure(lattice(words, env))), words).not.toMatch(/done$/m);
  const run = eve.run(lattice("submit -q --wait -- id -un", env)).trim();
  expect(eve.run(lattice(`logs ${run}`))).toBe(`${eve.name}\n`);
  expect(bob.run(lattice(`cancel ${id}`))).toContain(`Cancelled allocation ${id}`);
});

test("without a token no call is answered, and the signing secret is root's", async () => {
  const headers = { "x-lattice-user": "root" };
  expect((await fetch(`${url}/api/v1/allocations`, { headers })).status).toBe(401);
  for (const name of ["secret", "server", "logs"])
    expect(eve.run(failure(`cat ${folder}/${name}/* ${folder}/${name}`))).toContain("Permission denied");
});
