// Finding the processes of an attempt without control groups, among processes that their users prepared against it.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openUserFiles } from "../../src/files/open-user-files.ts";
import { FileError, type UserFiles } from "../../src/files/user-files.ts";
import { MARKER, type ProcessReader, processGroup } from "../../src/host/isolation/process-group.ts";

const isRoot = process.getuid?.() === 0;
const [MALLORY, BOB] = [54_321, 54_322];
let dir = "";
let files: UserFiles;
const started: ChildProcess[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-group-"));
  chmodSync(dir, 0o755);
  files = await openUserFiles({ isRoot, jobsAreRoot: false });
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});
afterAll(() => {
  files.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

/** A process of this user with the marker of the attempt, in a session of its own; resolves when it is ready. */
async function marked(uid: number, script = 'print("up", flush=True); time.sleep(600)'): Promise<number> {
  const code = `import os, time; os.setgroups([]); os.setresgid(${uid}, ${uid}, ${uid}); os.setresuid(${uid}, ${uid}, ${uid})
os.execve("/usr/bin/python3", ["python3", "-c", """import os, time\n${script}"""], {"${MARKER}": "${dir}"})`;
  const child = spawn("/usr/bin/python3", ["-c", code], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child.pid ?? 0;
}

/** Its first thread ends, which the kernel shows as a zombie, and another one runs. */
const HEADLESS = `import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("up", flush=True)
ctypes.CDLL(None).syscall(60, 0)
`;

test("a process whose first thread has ended is a member until its other threads have", async () => {
  writeFileSync(join(dir, "headless.py"), HEADLESS);
  writeFileSync(join(dir, "wrapper"), `python3 ${join(dir, "headless.py")} & wait\n`);
  const leader = spawn("/bin/sh", [join(dir, "wrapper"), "w1"], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(leader);
  await new Promise((resolve) => leader.stdout?.once("data", resolve));
  const group = processGroup(files);
  const place = { key: "w1", dir: join(dir, "unused"), leader: leader.pid ?? 0, uid: null };
  const states = (): string => spawnSync("ps", ["-o", "stat=,comm=", "-s", String(leader.pid)]).stdout.toString();
  await expect.poll(states).toMatch(/Z\S*l\S* +python3/);
  const members = await group.members(place);
  expect(members).toHaveLength(2);
  await group.kill(place);
  await expect.poll(states).not.toMatch(/Z\S*l/);
});

describe.runIf(isRoot)("the processes of an attempt", () => {
  test("a process of another user with the marker of the attempt is no member, and is not killed", async () => {
    const [own, other] = [await marked(MALLORY), await marked(BOB)];
    const group = processGroup(files);
    const place = { key: "w1", dir, leader: null, uid: MALLORY };
    expect(await group.members(place)).toEqual([own]);
    await group.kill(place);
    await expect.poll(() => spawnSync("ps", ["-o", "stat=", "-p", String(own)]).stdout.toString()).toMatch(/^(Z|$)/);
    expect(spawnSync("ps", ["-o", "stat=", "-p", String(other)]).stdout.toString()).toMatch(/^S/);
    expect(await group.remove({ ...place, dir: join(dir, "other") })).toBe(true);
  });

  test("processes whose environment cannot be read end the search of their user only, and hide none of its others", async () => {
    const own = await marked(MALLORY);
    const blocked: number[] = [];
    for (let n = 0; n < 12; n += 1) blocked.push(await marked(MALLORY));
    const asked: number[] = [];
    // As lattice-files answers for them, after its deadline.
    const reader: ProcessReader = {
      environ: async (pid, whose) => {
        asked.push(pid);
        if (!blocked.includes(pid)) return files.environ(pid, whose);
        await new Promise((resolve) => setTimeout(resolve, 300));
        throw new FileError("ETIMEDOUT", "no answer");
      },
    };
    const group = processGroup(reader);
    expect(await group.members({ key: "w1", dir, leader: null, uid: MALLORY })).toEqual([own]);
    expect(asked.filter((pid) => blocked.includes(pid))).toHaveLength(blocked.length);
    asked.length = 0;
    expect(await group.members({ key: "w1", dir, leader: null, uid: BOB })).toEqual([]);
    expect(asked.filter((pid) => blocked.includes(pid))).toEqual([]);
  });
});
