// Runs the page on backup and recovery: every `sh run` block in order, with its folders moved into the test's own.
// Between backup and recovery the server is killed and its data deleted, as the page assumes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOST } from "../harness/host.ts";
import { blocksOf, runBlock } from "../harness/pages.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { freePorts } from "../harness/quorum.ts";
import { request } from "../harness/rest.ts";

const blocks = blocksOf("docs/operating/backup-and-recovery.md");
const dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
let server: Program;
let url = "";

const moved = (text: string): string =>
  text.replaceAll(/\/(var\/lib\/lattice|var\/backups\/lattice|etc\/lattice)/g, (path) => join(dir, path));

beforeAll(async () => {
  for (const folder of ["var/lib/lattice", "var/backups/lattice", "etc/lattice"]) {
    mkdirSync(join(dir, folder), { recursive: true });
  }
  const [rest, grpc] = await freePorts(2);
  url = `http://${HOST}:${rest}`;
  const config = (data: string) =>
    JSON.stringify({
      server: { data_dir: join(dir, "var/lib/lattice", data) },
      api: { rest_listen: `${HOST}:${rest}`, grpc_listen: `${HOST}:${grpc}` },
      backup: { destination: join(dir, "var/backups/lattice") },
    });
  writeFileSync(join(dir, "etc/lattice/server.yaml"), config("old"));
  writeFileSync(join(dir, "etc/lattice/new.yaml"), config("new"));
  const args = ["--config", join(dir, "etc/lattice/server.yaml")];
  server = startProgram("lattice-server", { args, logFile: join(dir, "server.log") });
  await server.ready();
  for (let n = 0; n < 3; n += 1) {
    await request(url, "POST", "/api/v1/allocations", { body: { entrypoint: "true" } });
  }
});
afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("backup-and-recovery.md does what it says", async () => {
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  for (const block of blocks) {
    if (block.includes("--recover-from")) {
      await server.kill();
      rmSync(join(dir, "var/lib/lattice/old"), { recursive: true, maxRetries: 9 });
    }
    const at = block.includes("admin restore") ? await emptyCluster() : url;
    const env = { LATTICE_API_URL: at, HOME: dir, XDG_CONFIG_HOME: join(dir, ".config") };
    await runBlock(moved(block), { cwd: dir, env });
  }
  const { body } = await request<{ readonly allocations?: readonly unknown[] }>(url, "GET", "/api/v1/allocations");
  expect(body.allocations).toHaveLength(3);
});

/** Starts an empty cluster with access to the backups; returns its address. */
async function emptyCluster(): Promise<string> {
  const [rest, grpc] = await freePorts(2);
  const config = join(dir, "etc/lattice/empty.yaml");
  const value = {
    server: { data_dir: join(dir, "var/lib/lattice/empty") },
    api: { rest_listen: `${HOST}:${rest}`, grpc_listen: `${HOST}:${grpc}` },
    backup: { destination: join(dir, "var/backups/lattice") },
  };
  writeFileSync(config, JSON.stringify(value));
  await startProgram("lattice-server", { args: ["--config", config], logFile: join(dir, "empty.log") }).ready();
  return `http://${HOST}:${rest}`;
}
