// Each checkpoint method against a real program, and its results.

import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerWritableStream } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemAfter } from "../../src/base/after.ts";
import { addressProblem } from "../../src/checkpoint/callback.ts";
import { nodeCheckpoints } from "../../src/checkpoint/checkpoints.ts";
import { controlFolder, makeControl, readDone, requestedNumber, writeRequest } from "../../src/checkpoint/control.ts";
import { checkpointByDmtcp, dmtcpWords, missingDmtcp } from "../../src/checkpoint/dmtcp.ts";
import { FLAG_FILES, flagVariables, readFlag } from "../../src/checkpoint/shared-flag.ts";
import { storageProbe } from "../../src/checkpoint/storage-probe.ts";
import { type CheckpointPlace, checkpointTarget } from "../../src/checkpoint/target.ts";
import type { CheckpointProgressEvent, NodeCheckpointResult, ProgramCheckpoint } from "../../src/checkpoint/types.ts";
import { directFiles } from "../../src/files/direct-files.ts";
import { enter } from "../../src/terminal/enter.ts";

const WANTED: ProgramCheckpoint = { number: 1, thenStop: false, timeoutMs: 10_000, maxDeferralMs: 5_000 };
let dir = "";
const children: ChildProcess[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-target-"));
  await makeControl(dir, null, directFiles);
  mkdirSync(join(dir, "checkpoints"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const place = (mode: string, change: Partial<CheckpointPlace> = {}): CheckpointPlace => ({
  mode,
  port: 0,
  control: controlFolder(dir),
  checkpoints: join(dir, "checkpoints"),
  owned: { base: dir, parts: ["checkpoints"], ownedFrom: 0, mode: 0o755 },
  isFirst: true,
  owner: null,
  path: process.env.PATH ?? "",
  files: directFiles,
  members: async () => children.flatMap(({ pid }) => pid ?? []),
  async inside() {
    const pid = children[0]?.pid;
    const entered = pid === undefined ? null : await enter(firstProcess(pid));
    return { groups: [], enter: entered?.prefix ?? [] };
  },
  now: Date.now,
  ...change,
});

const firstProcess = (pid: number) => ({
  ...{ pid, variables: {}, owner: null, filters: "", line: "", term: "" },
  workdir: async () => ({ path: dir, id: "" }),
});

function shell(script: string): void {
  const env = { ...process.env, CONTROL: controlFolder(dir), CHECKPOINTS: join(dir, "checkpoints") };
  children.push(spawn("/bin/sh", ["-c", script], { env, stdio: "ignore" }));
}

interface Taken {
  readonly result: NodeCheckpointResult;
  readonly progress: readonly CheckpointProgressEvent[];
}

function take(of: CheckpointPlace, wanted: ProgramCheckpoint = WANTED): Promise<Taken> {
  const progress: CheckpointProgressEvent[] = [];
  return new Promise((resolve) => {
    const checkpoints = nodeCheckpoints({
      log: pino({ level: "silent" }),
      after: systemAfter,
      now: Date.now,
      target: async () => checkpointTarget(of),
      progress: (_, output) => progress.push(output),
      over: (_, result) => resolve({ result, progress }),
    });
    checkpoints.ask("1.1", wanted);
    // Said again, it is the same one.
    checkpoints.ask("1.1", wanted);
  });
}

const SAVES = `trap '. "$CONTROL/request"; mkdir -p "$CHECKPOINT_DIR"; echo 12345 >"$CHECKPOINT_DIR/state"
  echo x >>"$CONTROL/../signals"; : >"$CONTROL/done"' USR1
while :; do sleep 0.05; done`;

describe("checkpoints by signal", () => {
  it("the program is signalled with the directory, and the written bytes are counted", async () => {
    shell(SAVES);
    expect((await take(place("signal"))).result).toEqual({ number: 1, ok: true, bytes: 6, message: "" });
    expect(readFileSync(join(dir, "checkpoints", "1", "state"), "utf8")).toBe("12345\n");
    expect(readFileSync(join(controlFolder(dir), "request"), "utf8")).toContain("CHECKPOINT_THEN=continue");
    // A restarted agent gets the same result, and the program is not asked again.
    expect(await checkpointTarget(place("signal")).word()).toMatchObject({ number: 1, ok: true });
    expect((await take(place("signal"))).result).toMatchObject({ number: 1, ok: true });
    expect(readFileSync(join(dir, "signals"), "utf8")).toBe("x\n");
    expect((await take(place("signal"), { ...WANTED, number: 2 })).result).toMatchObject({ number: 2, ok: true });
  });

  it("a request of an agent that died before it signalled the program is delivered", async () => {
    await writeRequest(place("signal"), WANTED, join(dir, "checkpoints", "1"));
    shell(SAVES);
    expect((await take(place("signal"))).result).toMatchObject({ number: 1, ok: true });
  });

  it("success without written files is a failure", async () => {
    shell(SAVES.replace("echo 12345", "echo 12345 >/dev/full; :"));
    const { result } = await take(place("signal"));
    expect(result).toMatchObject({ number: 1, ok: false, bytes: 0 });
    expect(result.message).toMatch(/nothing was written to .*checkpoints\/1$/);
    expect(await checkpointTarget(place("signal")).word()).toMatchObject({ number: 1, ok: false });
    // The first of the nodes looks; all write to one folder.
    const other = mkdtempSync(join(tmpdir(), "lattice-target-"));
    await makeControl(other, null, directFiles);
    await writeRequest(place("signal", { control: controlFolder(other) }), WANTED, "/x");
    writeFileSync(join(controlFolder(other), "done"), "");
    const second = checkpointTarget(place("signal", { control: controlFolder(other), isFirst: false }));
    expect((await second.word())?.ok).toBe(true);
    rmSync(other, { recursive: true, maxRetries: 9 });
  });

  it("a program that ignores the request times out", async () => {
    shell("trap : USR1; while :; do sleep 0.05; done");
    const { result } = await take(place("signal"), { ...WANTED, timeoutMs: 300 });
    expect(result).toMatchObject({ ok: false, message: "the program did not answer within 0.3 s" });
  });

  it("a reported failure counts, and results of other checkpoints are ignored", async () => {
    const at = place("signal");
    await writeRequest(at, WANTED, "/x");
    expect(await requestedNumber(at)).toBe(1);
    expect(await readDone(at, 1)).toBeNull();
    writeFileSync(join(at.control, "done"), "7\n");
    expect(await readDone(at, 1)).toBeNull();
    writeFileSync(join(at.control, "done"), "failed: no space\n");
    expect(await readDone(at, 1)).toEqual({ ok: false, message: "no space" });
    writeFileSync(join(at.control, "done"), `failed: ${"x".repeat(3_000)}`);
    expect((await readDone(at, 1))?.message).toHaveLength(1_000);
  });

  it("the agent never writes through a symbolic link", async () => {
    const at = place("signal");
    const { control } = at;
    const victim = join(dir, "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, join(control, "request"));
    symlinkSync(victim, join(control, "done"));
    await writeRequest(at, WANTED, "/x");
    expect(readFileSync(victim, "utf8")).toBe("mine");
    expect(await requestedNumber(at)).toBe(1);
  });
});

describe("checkpoints by shared memory", () => {
  it("the flag is set and completion is detected", async () => {
    await makeControl(dir, null, directFiles, FLAG_FILES);
    const { LATTICE_CHECKPOINT_SHM: file = "" } = flagVariables(controlFolder(dir));
    // Python maps it as any program would.
    const script = `
import mmap, struct, time
f = open("${file}", "r+b"); m = mmap.mmap(f.fileno(), 4096)
while struct.unpack_from("=I", m, 0)[0] == 0: time.sleep(0.01)
import os; os.makedirs("${dir}/checkpoints/3"); open("${dir}/checkpoints/3/state", "w").write("12")
n, stop = struct.unpack_from("=I", m, 0)[0], struct.unpack_from("=I", m, 8)[0]
struct.pack_into("=I", m, 12, 50); time.sleep(0.1)
struct.pack_into("=I", m, 0, 0); struct.pack_into("=I", m, 4, n if stop else 99)`;
    children.push(spawn("python3", ["-c", script], { stdio: "ignore" }));
    const { result, progress } = await take(place("shmem"), { ...WANTED, number: 3, thenStop: true });
    expect(result).toMatchObject({ number: 3, ok: true });
    expect(progress).toMatchObject([{ percent: 50 }]);
    expect(await readFlag(place("shmem"))).toMatchObject({ request: 0, done: 3 });
  });
});

describe("checkpoints by call", () => {
  it("HTTP reports estimate, progress and completion, and a deferred request is repeated", async () => {
    let calls = 0;
    const server = createServer((request, response) => {
      request.resume();
      calls += 1;
      if (calls === 1) {
        response.end('{"defer_seconds": 0.1}\n');
        return;
      }
      response.write('{"estimated_seconds": 3}\n{"per');
      setTimeout(() => response.end('cent": 40}\n{"done": 77}\n'), 50);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    writeFileSync(join(controlFolder(dir), "endpoint"), `http://127.0.0.1:${port}/checkpoint\n`);
    const { result } = await take(place("grpc"));
    server.close();
    expect(result).toEqual({ number: 1, ok: true, bytes: 77, message: "" });
    expect(calls).toBe(2);
  });

  it("a program in a network namespace is called by HTTP and gRPC, and nothing is left behind", async () => {
    const program = join(import.meta.dirname, "..", "..", "..", "..", "tests", "acceptance", "programs");
    const grpc = `exec ${process.execPath} ${join(program, "count-callback.mjs")} ${dir}/diary ${dir}/finish`;
    const answers = `require("http").createServer((q, r) => r.end(JSON.stringify({ done: 5 }))).listen(4711, "127.0.0.1")`;
    const endpoint = join(controlFolder(dir), "endpoint");
    for (const [number, words] of [
      [1, `printf http://127.0.0.1:4711/save >${endpoint}; exec ${process.execPath} -e '${answers}'`],
      [2, grpc],
    ] as const) {
      rmSync(endpoint, { force: true });
      const env = { ...process.env, LATTICE_CHECKPOINT_ENDPOINT: endpoint };
      const inside = ["--net", "/bin/sh", "-c", `ip link set lo up; ${words}`];
      const child = spawn("unshare", inside, { env, stdio: "ignore" });
      children.unshift(child);
      const { result } = await take(place("grpc"), { ...WANTED, number });
      expect(result, `checkpoint ${number}`).toMatchObject({ number, ok: true });
      child.kill("SIGKILL");
    }
    await expect.poll(() => readdirSync(dir).filter((name) => name.startsWith("relay-"))).toEqual([]);
  });

  it("a program that answers without end has failed", async () => {
    const endless = (call: ServerWritableStream<unknown, pb.TakeCheckpointResponse>): void => {
      const percent = create(pb.TakeCheckpointResponseSchema, { answer: { case: "percent", value: 1 } });
      const more = (): void => {
        while (!call.cancelled && call.write(percent));
      };
      call.on("drain", more);
      more();
    };
    const server = new Server();
    server.addService(serviceDefinition(pb.CheckpointCallback), { TakeCheckpoint: endless });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    writeFileSync(join(controlFolder(dir), "endpoint"), `127.0.0.1:${port}\n`);
    const { result } = await take(place("grpc"));
    server.forceShutdown();
    expect(result).toMatchObject({ ok: false, message: "the program's answer is too long" });
  });

  it("calls reach only the node itself", async () => {
    expect(addressProblem("127.0.0.1:80")).toBeNull();
    expect(addressProblem("unix:/run/app.sock")).toBeNull();
    expect(addressProblem("http://localhost:8080/x")).toBeNull();
    for (const far of ["10.0.0.1:80", "https://127.0.0.1:1/", "http://evil.example:80/", "127.0.0.1.example:80", ""]) {
      expect(addressProblem(far), far).not.toBeNull();
    }
    writeFileSync(join(controlFolder(dir), "endpoint"), "metadata.internal:80");
    expect((await take(place("grpc"))).result).toMatchObject({
      ok: false,
      message: expect.stringContaining("not an address"),
    });
  });
});

describe("checkpoints by DMTCP", () => {
  it("a missing program is named", async () => {
    expect(await missingDmtcp(dir, null, directFiles)).toBe(
      "checkpoints by dmtcp need dmtcp_launch, which is not installed on this node",
    );
  });

  it("the coordinator is called, and the images are moved to the checkpoint directory", async () => {
    const bin = join(dir, "bin");
    mkdirSync(bin);
    const fresh = join(dir, "checkpoints", "dmtcp");
    mkdirSync(fresh);
    for (const name of ["dmtcp_launch", "dmtcp_restart", "dmtcp_command"]) {
      const body = name === "dmtcp_command" ? `[ "$2" = 4711 ] && echo image >${fresh}/a.dmtcp` : ":";
      writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(bin, name), 0o755);
    }
    expect(await missingDmtcp(bin, null, directFiles)).toBeNull();
    const launch = { control: controlFolder(dir), checkpoints: join(dir, "checkpoints"), from: "" };
    expect(dmtcpWords(launch).join(" ")).toContain("dmtcp_launch --new-coordinator --coord-port 0");
    expect(dmtcpWords({ ...launch, from: "/c/3" }).join(" ")).toContain("dmtcp_restart");
    await expect(
      checkpointByDmtcp({ ...place("dmtcp"), directory: "/x", growth: async () => {}, heard: () => {} }),
    ).rejects.toThrow("its DMTCP coordinator has not started");
    writeFileSync(join(controlFolder(dir), "dmtcp.port"), "4711\n");
    const { result } = await take(place("dmtcp", { path: `${bin}:${process.env.PATH}` }));
    expect(result).toMatchObject({ ok: true, bytes: 6 });
    expect(readFileSync(join(dir, "checkpoints", "1", "a.dmtcp"), "utf8")).toBe("image\n");
  });
});

it("the storage probe follows no link and leaves nothing behind", async () => {
  const folder = join(dir, "store");
  mkdirSync(folder);
  symlinkSync(join(dir, "victim"), join(folder, ".lattice-probe-n1"));
  let probes = 0;
  const after = (_ms: number, callback: () => void) => {
    probes += 1;
    if (probes <= 3) queueMicrotask(callback);
    return () => undefined;
  };
  const probe = storageProbe({ folder, nodeId: "n1", after, needed: () => true, everyMs: 10 });
  await expect.poll(() => probes, { timeout: 20_000 }).toBeGreaterThan(3);
  await expect.poll(() => readdirSync(folder), { timeout: 20_000 }).toEqual([".lattice-probe-n1"]);
  expect(readdirSync(dir)).not.toContain("victim");
  probe.close();
});

it("the storage probe detects failure and recovery", async () => {
  const folder = join(dir, "store");
  let needed = true;
  const probe = storageProbe({ folder, nodeId: "n1", after: systemAfter, needed: () => needed, everyMs: 10 });
  const seen = async (good: boolean): Promise<void> => {
    for (let i = 0; i < 6_000 && (probe.error() === "") !== good; i += 1) await new Promise((r) => setTimeout(r, 10));
    expect(probe.error() === "").toBe(good);
  };
  await seen(false);
  expect(probe.error()).toContain("ENOENT");
  mkdirSync(folder);
  await seen(true);
  rmSync(folder, { recursive: true, maxRetries: 9 });
  await seen(false);
  needed = false;
  await seen(true);
  probe.close();
});
