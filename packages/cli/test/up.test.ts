// `lattice up`: its child processes, ports, data directory and messages.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Child, keepRunning } from "../src/commands/up/child.ts";
import { claimDataDir, writeClusterFile } from "../src/commands/up/cluster-file.ts";
import { runGuard } from "../src/commands/up/guard.ts";
import { groupOf, nodeNames, prepareLayout } from "../src/commands/up/layout.ts";
import { stopSummary } from "../src/commands/up/messages.ts";
import { chooseNodeCount } from "../src/commands/up/node-count.ts";
import { requireFreePorts } from "../src/commands/up/ports.ts";
import { parseReady, readyLine } from "../src/commands/up/ready-line.ts";

const dir = realpathSync(mkdtempSync(join(tmpdir(), "lattice-up-")));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const never = new AbortController().signal;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function start(name: string, source: string, notes: string[] = []): { child: Child; pids: number[] } {
  const program = join(dir, `${name}.mjs`);
  writeFileSync(program, source);
  const pids: number[] = [];
  const child = keepRunning({
    name,
    program,
    args: () => ["--data-dir", dir],
    logFile: join(dir, `${name}.log`),
    note: (text) => notes.push(text),
    onStart: (pid) => pids.push(pid),
  });
  return { child, pids };
}

describe("children", () => {
  test("the ready line is found among other lines", async () => {
    const { child } = start(
      "ready",
      'console.log("starting"); console.log(JSON.stringify({ready:true,rest:"127.0.0.1:1",grpc:"127.0.0.1:2"})); setInterval(()=>{},1e6)',
    );
    expect(await readyLine(child, 20_000, never)).toEqual({ rest: "127.0.0.1:1", grpc: "127.0.0.1:2" });
    await child.stop(5_000);
    expect(child.running()).toBe(false);
  });

  test("a child that ends before it is ready shows the end of its log", async () => {
    const { child } = start("broken", 'console.error("the disk is on fire"); process.exit(3)');
    await expect(readyLine(child, 20_000, never)).rejects.toThrow(/status 3.*the disk is on fire/s);
    await child.stop(1_000);
  });

  test("a child that dies is restarted with a note", async () => {
    const notes: string[] = [];
    const { child, pids } = start("mortal", "setInterval(()=>{},1e6)", notes);
    await until(() => pids.length === 1);
    process.kill(pids[0] ?? 0, "SIGKILL");
    await until(() => pids.length === 2);
    expect(notes[0]).toMatch(/mortal ended unexpectedly \(SIGKILL\); restarting in 0.5 s/);
    await child.stop(5_000);
  });

  test("a child that ignores SIGTERM is killed", async () => {
    const { child } = start("stubborn", 'process.on("SIGTERM",()=>{}); console.log("up"); setInterval(()=>{},1e6)');
    await until(() => readFileSync(child.logFile, "utf8").includes("up"));
    await child.stop(50);
    expect(child.running()).toBe(false);
  });
});

test.each([
  ["plain text", null],
  ['{"level":30,"msg":"ready"}', null],
  ['{"ready":false,"rest":"a","grpc":"b"}', null],
  ['{"ready":true}', null],
  ['{"ready":true,"rest":"a:1","grpc":"b:2"}', { rest: "a:1", grpc: "b:2" }],
])("the line %s is parsed", (line, addresses) => {
  expect(parseReady(line)).toEqual(addresses);
});

describe("ports in use", () => {
  const held: { close(): unknown }[] = [];
  afterEach(() => {
    for (const server of held.splice(0)) server.close();
    vi.unstubAllEnvs();
  });
  async function hold(server: Server): Promise<number> {
    held.push(server.listen(0, "127.0.0.1"));
    await until(() => server.listening);
    return (server.address() as AddressInfo).port;
  }
  const lattice = () =>
    createHttpServer((_request, response) => response.end('{"status":"ok","server":"server-1","version":"1"}'));
  beforeEach(() => vi.stubEnv("npm_lifecycle_event", undefined));

  test("the error names the port and its flag", async () => {
    const port = await hold(createServer((socket) => socket.destroy()));
    await expect(requireFreePorts({ port, grpcPort: 0 })).rejects.toMatchObject({
      problem: {
        detail: `port ${port} is in use by another program`,
        hint: "Run: lattice up --port PORT (0 takes any free one)",
      },
    });
  });

  test("the error names both ports, and npm start if that was used", async () => {
    vi.stubEnv("npm_lifecycle_event", "start");
    const [port, grpcPort] = [await hold(createServer((socket) => socket.destroy())), await hold(createServer())];
    await expect(requireFreePorts({ port, grpcPort })).rejects.toMatchObject({
      problem: {
        detail: `ports ${port} and ${grpcPort} are in use by another program`,
        hint: "Run: npm start -- --port PORT --grpc-port PORT (0 takes any free one)",
      },
    });
  });

  test("the error suggests the Lattice cluster on the port", async () => {
    const port = await hold(lattice());
    await expect(requireFreePorts({ port, grpcPort: 0 })).rejects.toMatchObject({
      problem: {
        detail: `port ${port} is in use by another Lattice cluster (server-1)`,
        hint: expect.stringContaining(`Use it with LATTICE_API_URL=http://127.0.0.1:${port}, or choose`),
      },
    });
  });

  test("port 0 needs no check", async () => {
    await requireFreePorts({ port: 0, grpcPort: 0 });
  });
});

describe("number of nodes", () => {
  test("is stored with the data and can be overridden", () => {
    const layout = prepareLayout(join(dir, "counted"));
    expect(chooseNodeCount(layout, undefined)).toBe(4);
    expect(chooseNodeCount(layout, 8)).toBe(8);
    expect(chooseNodeCount(prepareLayout(join(dir, "counted")), undefined)).toBe(8);
  });

  test.each(["", "{}", '{"nodes":0}', '{"nodes":"8"}', '{"nodes":1e9}'])("damaged settings %j are ignored", (text) => {
    const layout = prepareLayout(join(dir, "damaged"));
    writeFileSync(layout.settingsFile, text);
    expect(chooseNodeCount(layout, undefined)).toBe(4);
  });
});

describe("the summary after a stop", () => {
  test.each<[number | null, string | null, string]>([
    [2, "/d", "Stopped. 2 allocations keep running; continue with `lattice up --data-dir /d`."],
    [1, "/d", "Stopped. 1 allocation keeps running; continue with `lattice up --data-dir /d`."],
    [0, "/d", "Stopped. The data is kept; continue with `lattice up --data-dir /d`."],
    [null, "/d", "Stopped. The data is kept; continue with `lattice up --data-dir /d`."],
    [2, null, "Stopped. Running allocations were ended and the temporary data removed."],
    [0, null, "Stopped. The temporary data was removed."],
  ])("%j running, data in %j", (running, kept, text) => {
    vi.stubEnv("npm_lifecycle_event", undefined);
    expect(stopSummary(running, kept)).toBe(text);
    vi.unstubAllEnvs();
  });
});

test("the guard cleans up after a killed `up`", async () => {
  const layout = prepareLayout(join(dir, "guarded"));
  const program = join(dir, "guarded.mjs");
  writeFileSync(program, "setInterval(()=>{},1e6)");
  const child = spawn(process.execPath, [program, "--data-dir", layout.serverDir], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const pids = { server: child.pid ?? 0 };
  writeClusterFile(layout, { url: "", grpc: "", data_dir: "", nodes: [], pid: 2 ** 22 + 1, pids });
  const alive = new PassThrough();
  const over = runGuard(layout.dataDir, alive);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(child.exitCode).toBeNull();
  expect(existsSync(layout.dataDir)).toBe(true);
  alive.end();
  await over;
  await ended;
  expect(existsSync(layout.dataDir)).toBe(false);
});

describe("data directory", () => {
  test("a temporary directory is created by default", () => {
    const layout = prepareLayout(undefined);
    expect(layout.temporary).toBe(true);
    expect(existsSync(layout.serverDir)).toBe(true);
    rmSync(layout.dataDir, { recursive: true, maxRetries: 9 });
  });

  test("an unusable directory is refused", () => {
    const file = join(dir, "a-file");
    writeFileSync(file, "");
    expect(() => prepareLayout(file)).toThrow("cannot be used");
    expect(() => prepareLayout(join(file, "below"))).toThrow("cannot be used");
  });

  test("a directory that cannot be created is refused at once", () => {
    expect(() => prepareLayout("/proc/x/y")).toThrow("/proc/x/y cannot be used: ENOENT");
  });

  test("processes of an earlier cluster are stopped", async () => {
    const layout = prepareLayout(join(dir, "left"));
    const { child, pids } = start("left-behind", "setInterval(()=>{},1e6)");
    await until(() => pids.length === 1);
    const pid = pids[0] ?? 0;
    writeClusterFile(layout, { url: "", grpc: "", data_dir: dir, nodes: [], pid: 2 ** 22 + 1, pids: { server: pid } });
    // Orphans are recognized by the directory in their command line.
    const notes: string[] = [];
    const stopped = claimDataDir({ ...layout, dataDir: dir }, (text) => notes.push(text));
    await until(() => !child.running());
    await child.stop(1_000);
    await (await stopped)();
    expect(notes).toEqual(["Stopping 1 process of an earlier cluster"]);
  });

  test("a process of a directory with the same prefix is not stopped", async () => {
    const layout = prepareLayout(join(dir, "alike"));
    const notes: string[] = [];
    const { child, pids } = start("other-folder", "setInterval(()=>{},1e6)");
    await until(() => pids.length === 1);
    const pid = pids[0] ?? 0;
    writeClusterFile(layout, { url: "", grpc: "", data_dir: "", nodes: [], pid: 2 ** 22 + 1, pids: { server: pid } });
    const release = await claimDataDir({ ...layout, dataDir: dir.slice(0, -1) }, (text) => notes.push(text));
    expect(notes).toEqual([]);
    expect(child.running()).toBe(true);
    await release();
    await child.stop(1_000);
  });

  test("a claimed directory is refused under any name until it is released", async () => {
    const layout = prepareLayout(join(dir, "served"));
    const release = await claimDataDir(layout, () => {});
    // The owner's command line does not contain `up`, as under `npm start`.
    writeClusterFile(layout, { url: "http://x", grpc: "", data_dir: "", nodes: [], pid: process.pid, pids: {} });
    symlinkSync(layout.dataDir, join(dir, "by-another-name"));
    for (const name of ["served", "by-another-name", `../${dir.split("/").at(-1)}/served/`]) {
      await expect(claimDataDir(prepareLayout(join(dir, name)), () => {})).rejects.toMatchObject({
        problem: { code: "conflict", detail: expect.stringContaining("already running from") },
      });
    }
    await release();
    await (await claimDataDir(layout, () => {}))();
  });

  test("a directory without cluster.json is free", async () => {
    await (await claimDataDir(prepareLayout(join(dir, "fresh")), () => {}))();
  });
});

test("nodes are named and grouped", () => {
  expect(nodeNames(3)).toEqual(["node-1", "node-2", "node-3"]);
  expect([0, 1, 2, 3].map(groupOf)).toEqual(["group-0", "group-0", "group-1", "group-1"]);
});
