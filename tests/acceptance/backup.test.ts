// A backup of one server with agents: taken under load, verified, damaged, and used for recovery after a total loss.
// Agents survive all of it, and so do the jobs in the backup.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CliResult, runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { endProcessesIn, isAlive } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { type AllocationJson, type Answer, type Json, request } from "../harness/rest.ts";

const JOBS = 60;
const MAX_FINISHED = 5;
const dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
const home = join(dir, "backups");
const config = join(dir, "server.yaml");

let server: Program | null = null;
let rest = `${HOST}:0`;
let grpc = `${HOST}:0`;

beforeAll(() => {
  mkdirSync(home);
  writeFileSync(
    config,
    JSON.stringify({
      backup: { destination: home, interval: "0s" },
      retention: { max_finished: MAX_FINISHED },
      quorum: { snapshot_every_entries: 50 },
    }),
  );
});
afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const argsFor = (data: string): string[] => [
  "--config",
  config,
  "--data-dir",
  join(dir, data),
  "--rest-listen",
  rest,
  "--grpc-listen",
  grpc,
];

async function startServer(data: string, ...how: readonly string[]): Promise<void> {
  server = startProgram("lattice-server", { args: [...argsFor(data), ...how], logFile: join(dir, `${data}.log`) });
  const ready = await server.ready();
  rest = String(ready.rest);
  grpc = String(ready.grpc);
}

/** Starts a server that must refuse; returns its output. */
async function refused(data: string, ...how: readonly string[]): Promise<string> {
  const logFile = join(dir, `refused-${data}-${readdirSync(dir).length}.log`);
  const program = startProgram("lattice-server", { args: [...argsFor(data), ...how], logFile });
  expect(await program.ended).toBe(1);
  return readFileSync(logFile, "utf8");
}

const api = <T = Json>(method: string, path: string, body?: Json): Promise<Answer<T>> =>
  request<T>(`http://${rest}`, method, `/api/v1${path}`, body === undefined ? {} : { body });
const cli = (...args: readonly string[]): Promise<CliResult> =>
  runCli(args, { env: { LATTICE_API_URL: `http://${rest}`, HOME: dir, XDG_CONFIG_HOME: join(dir, ".config") } });

async function submit(entrypoint: string): Promise<string> {
  const answer = await api<{ readonly id: string }>("POST", "/allocations", { entrypoint });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.id;
}
const allocation = async (id: string): Promise<AllocationJson> => {
  const answer = await api<AllocationJson>("GET", `/allocations/${id}`);
  if (answer.status !== 200) throw new Error(`${id}: ${answer.text}`);
  return answer.body;
};
const reaches = (id: string, state: string): Promise<AllocationJson> =>
  eventually({ what: `allocation ${id} is ${state}` }, async () => {
    const record = await allocation(id);
    return record.state === state ? record : null;
  });
const stateHash = async (): Promise<string> =>
  (await api<{ readonly state_hash: string }>("GET", "/raft/status")).body.state_hash;

/** Runs until a file appears; prints its process id. */
const waiting = (name: string): string =>
  `sh -c 'echo $$ > ${join(dir, name)}.pid; while [ ! -e ${join(dir, name)}.go ]; do sleep 0.1; done'`;
const pidOf = (name: string): Promise<number> =>
  eventually({ what: `${name} runs` }, () => Number(readFileSync(join(dir, `${name}.pid`), "utf8").trim()) || null);

const NODES = ["node-1", "node-2", "node-3"];
const agents: Program[] = [];
function startAgent(node: string): void {
  const args = ["--node-id", node, "--server", grpc, "--data-dir", join(dir, `agent-${node}`)];
  agents.push(startProgram("lattice-agent", { args, logFile: join(dir, `agent-${node}.log`) }));
}

describe("recovery from a backup after the loss of everything", () => {
  const acknowledged: string[] = [];
  let long = "";
  let unknown = "";
  let backup = "";

  test("a backup taken under load passes every check", async () => {
    await startServer("first");
    for (const node of NODES) startAgent(node);
    long = await submit(waiting("long"));
    await reaches(long, "running");
    let taken: CliResult | null = null;
    let inBackup = 0;
    /** More have finished than the live state keeps, so that some are in the history. */
    const take = async () => {
      for (const id of acknowledged.slice(0, 3 * MAX_FINISHED)) await reaches(id, "completed");
      inBackup = acknowledged.length;
      taken = await cli("admin", "backup", "-o", "json");
    };
    const load = (async () => {
      while (taken === null || acknowledged.length < JOBS) {
        acknowledged.push(await submit("true"));
        if (acknowledged.length === JOBS) void take();
      }
    })();
    await load;
    acknowledged.length = inBackup;
    const result = taken as CliResult | null;
    expect(result?.code, result?.stderr).toBe(0);
    const output = JSON.parse(result?.stdout ?? "") as { readonly source: string; readonly history_records: number };
    backup = output.source;
    expect(output.history_records).toBeGreaterThan(0);

    const verified = await cli("admin", "backup", "verify", "--source", backup);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    for (const check of ["checksum", "metadata", "records", "state_hash", "history", "audit"]) {
      expect(verified.stdout).toMatch(new RegExp(`^${check} +ok`, "m"));
    }
    const listed = await cli("admin", "backup", "list", "-o", "json");
    expect((JSON.parse(listed.stdout) as { backups: unknown[] }).backups).toHaveLength(1);
  });

  test("verify names the failed check after one changed byte, with and without a server", async () => {
    const bad = join(home, "backup-20200101T000000Z.tar.gz");
    const bytes = readFileSync(backup);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
    writeFileSync(bad, bytes);
    copyFileSync(`${backup}.sha256`, `${bad}.sha256`);
    const online = await cli("admin", "backup", "verify", bad);
    expect(online.code).toBe(5);
    expect(online.stderr).toContain('does not pass the check "checksum"');
    const program = startProgram("lattice-server", {
      args: ["--verify-backup", bad],
      logFile: join(dir, "verify.log"),
    });
    expect(await program.ended).toBe(1);
    rmSync(bad);
    rmSync(`${bad}.sha256`);
  });

  test("a new cluster starts from the backup, and its running jobs continue", async () => {
    // Submitted after the backup, so the recovered cluster does not know it.
    unknown = await submit(waiting("unknown"));
    await reaches(unknown, "running");
    const [known, stray] = [await pidOf("long"), await pidOf("unknown")];
    await server?.kill();
    rmSync(join(dir, "first"), { recursive: true, maxRetries: 9 });

    await startServer("second", "--bootstrap", "--recover-from", backup);
    expect(readFileSync(join(dir, "second.log"), "utf8")).toMatch(
      /started from the backup at entry \d+, \d+ minutes old/,
    );
    for (const id of acknowledged) expect((await allocation(id)).id).toBe(id);
    expect((await api("GET", `/allocations/${unknown}`)).status).toBe(404);

    // The agents reconnect; attempts that the backup does not contain are ended.
    await eventually({ what: "the unknown job is ended" }, () => (isAlive(stray) ? null : true));
    expect(isAlive(known)).toBe(true);
    expect(await reaches(long, "running")).toMatchObject({ attempt: 1 });
    for (const id of acknowledged) await reaches(id, "completed");
    writeFileSync(join(dir, "long.go"), "");
    expect(await reaches(long, "completed")).toMatchObject({ attempt: 1, exit_code: 0 });
    // An id assigned after the backup is not assigned again.
    expect(Number(await submit("true"))).toBeGreaterThan(Number(unknown));
  });

  test("the recovered cluster accepts work and refuses a second recovery", async () => {
    await server?.stop();
    const output = await refused("second", "--bootstrap", "--recover-from", backup);
    expect(output).toContain("already");
    await startServer("second");
    expect((await allocation(long)).state).toBe("completed");
    for (const id of acknowledged) expect((await allocation(id)).state).toBe("completed");
    const again = await cli("admin", "backup");
    expect(again.code, again.stderr).toBe(0);
    for (const agent of agents) await agent.stop();
    await server?.stop();
  });
});

describe("restore into a running cluster", () => {
  const newest = (): string => {
    const name = readdirSync(home)
      .filter((one) => one.endsWith(".tar.gz"))
      .sort()
      .at(-1);
    return join(home, name ?? "");
  };

  test("restore refuses bad input with a message and changes nothing", async () => {
    await startServer("third");
    const before = await stateHash();
    const good = newest();
    const named = (n: number): string => join(home, `backup-2020010${n}T000000Z.tar.gz`);
    writeFileSync(named(1), "hello");
    copyFileSync(good, named(2));
    truncateSync(named(2), 1_000);
    writeFileSync(named(3), gzipSync(newerFormat(gunzipSync(readFileSync(good)))));
    const cases: readonly (readonly [string, number, RegExp])[] = [
      [join(home, "backup-20200109T000000Z.tar.gz"), 3, /no such file/i],
      [named(1), 5, /"metadata": it is not a gzip file/],
      [named(2), 5, /"checksum"/],
      [named(3), 5, /format 9/],
      ["/etc/passwd", 2, /does not end in a name/],
      ["/etc/backup-20200101T000000Z.tar.gz", 2, /not a place for backups/],
    ];
    for (const [source, code, words] of cases) {
      const result = await cli("admin", "restore", source);
      expect({ source, code: result.code, output: result.stderr }).toMatchObject({ source, code });
      expect(result.stderr).toMatch(words);
    }
    for (const n of [1, 2, 3]) rmSync(named(n));
    expect(await stateHash()).toBe(before);
    expect((await api<{ readonly allocations?: unknown[] }>("GET", "/allocations")).body.allocations ?? []).toEqual([]);
  });

  test("restore applies a whole backup, once", async () => {
    const result = await cli("admin", "restore", newest());
    expect(result.code, result.stderr).toBe(0);
    const { body } = await api<{ readonly allocations?: readonly AllocationJson[] }>(
      "GET",
      "/allocations?page_size=500&state=completed",
    );
    expect((body.allocations ?? []).length).toBeGreaterThan(JOBS);
    const nodes = (await api("GET", "/nodes")).text;
    const again = await cli("admin", "restore", basename(newest()));
    expect(again.code).toBe(5);
    expect(again.stderr).toContain("cluster that is empty");
    expect(withoutIndex((await api("GET", "/nodes")).text)).toBe(withoutIndex(nodes));
    // A job runs on the restored nodes.
    for (const node of NODES) startAgent(node);
    const id = await submit("true");
    await reaches(id, "completed");
  });

  test("restored records survive a restart, in the history too", async () => {
    await server?.kill();
    await startServer("third");
    const { body } = await api<{ readonly allocations?: readonly AllocationJson[] }>(
      "GET",
      "/allocations?page_size=500&state=completed",
    );
    const ids = (body.allocations ?? []).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(JOBS);
  });

  test("--recover-from refuses unusable backups and creates nothing", async () => {
    const missing = await refused("fourth", "--bootstrap", "--recover-from", join(dir, "none.tar.gz"));
    expect(missing).toContain("no such file");
    expect(await refused("fourth", "--bootstrap", "--recover-from", config)).toContain("not a gzip file");
    expect(await refused("fourth", "--recover-from", newest())).toContain("use it with --bootstrap");
    expect(existsSync(join(dir, "fourth", "log", "snapshots"))).toBe(false);
    expect(existsSync(join(dir, "fourth", "history"))).toBe(false);
  });
});

const withoutIndex = (text: string): string => text.replaceAll(/"log_index":"\d+"/g, "");

/** The same archive with another format number of the same length. */
function newerFormat(tar: Buffer): Buffer {
  const at = tar.indexOf('"format": 1');
  return Buffer.concat([tar.subarray(0, at), Buffer.from('"format": 9'), tar.subarray(at + 11)]);
}
