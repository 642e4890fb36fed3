// The native program that takes terminals and tasks into attempts, with processes that are not what they should be. Needs
// root, like the agent that uses it.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { enterProgram } from "../../src/base/enter-program.ts";

const MALLORY = 54_331;
const BOB = 54_332;
const children: ChildProcess[] = [];
let dir = "";

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-enter-"));
  chmodSync(dir, 0o755);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

/** Starts a process and resolves to its id when it has written a line. */
function started(words: readonly string[], cwd = "/"): Promise<number> {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve(child.pid ?? 0));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
  });
}

const asUser = (uid: number, ...words: readonly string[]): readonly string[] => [
  ...["/usr/bin/setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", ...words],
];
const UP = ["/bin/sh", "-c", "echo up; exec sleep 60"] as const;

interface Result {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

function run(pid: number, more: readonly string[], command: readonly string[], variables = ""): Promise<Result> {
  const user = [`--setuid=${MALLORY}`, `--setgid=${MALLORY}`, `--groups=${MALLORY},${BOB}`];
  const words = [`--target=${pid}`, ...user, ...more, "--variables=3", "--", ...command];
  const child = spawn(enterProgram() ?? "", words, {
    cwd: "/",
    env: { ROOTS: "own" },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  // Refused before it reads them.
  (child.stdio[3] as Writable).on("error", () => undefined).end(variables);
  let [out, errors] = ["", ""];
  child.stdout?.on("data", (bytes: Buffer) => {
    out += bytes;
  });
  child.stderr?.on("data", (bytes: Buffer) => {
    errors += bytes;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code: code ?? -1, out, errors })));
}

/** Sets the three uids of a process that was root's; the file system uid follows the effective one. */
const withUids = (...uids: readonly number[]) =>
  [
    "/usr/bin/python3",
    "-c",
    `import os, time; os.setresuid(${uids.join()}); print("up", flush=True); time.sleep(60)`,
  ] as const;

describe.runIf(process.getuid?.() === 0)("lattice-enter", () => {
  test.each([
    ["root", [0, 0, 0]],
    ["a setuid program of root", [MALLORY, 0, 0]],
    ["a setuid program that gave up root for now", [MALLORY, MALLORY, 0]],
    ["a setuid program of another user", [MALLORY, BOB, BOB]],
    ["a program of another user", [BOB, BOB, BOB]],
  ])("a process of %s is not entered", async (_, uids) => {
    const { code, out, errors } = await run(await started(withUids(...uids)), ["--mount"], ["/usr/bin/id"]);
    expect(out).toBe("");
    expect(code).toBe(126);
    expect(errors).toContain("runs as another user now (a setuid program)");
  });

  test("a file with the setuid bit makes the process another one", async () => {
    const program = join(dir, "suid-python");
    copyFileSync(realpathSync("/usr/bin/python3"), program);
    chmodSync(program, 0o4755);
    const script = 'import time; print("up", flush=True); time.sleep(60)';
    const pid = await started(asUser(MALLORY, program, "-c", script));
    expect(await run(pid, ["--mount"], ["/usr/bin/id"])).toMatchObject({ code: 126, out: "" });
  });

  test("the command has the stated user, no capabilities and only the job's variables", async () => {
    const pid = await started(asUser(MALLORY, "--no-new-privs", ...UP));
    const script =
      "id -u; id -g; id -G; grep -E '^(Cap(Prm|Eff|Inh)|NoNewPrivs)' /proc/self/status; env -0 | tr '\\0' '|'";
    const variables = "PATH=/usr/bin:/bin\0odd.name=x\0KEY=a\nb\0";
    const { code, out } = await run(pid, ["--mount"], ["/bin/bash", "-c", script], variables);
    expect(code).toBe(0);
    expect(out.split("\n").slice(0, 3)).toEqual([`${MALLORY}`, `${MALLORY}`, `${MALLORY} ${BOB}`]);
    expect(out.match(/Cap\w+:\t0000000000000000/g)).toHaveLength(3);
    expect(out).toContain("NoNewPrivs:\t1");
    expect(out).toContain("odd.name=x|");
    expect(out).toContain("KEY=a\nb|");
    expect(out).not.toContain("ROOTS");
  });

  test("the working directory is entered with the rights of the user", async () => {
    const [open, closed] = [join(dir, "open"), join(dir, "closed")];
    mkdirSync(open);
    mkdirSync(closed, { mode: 0o700 });
    const inOpen = await started(asUser(MALLORY, ...UP), open);
    expect(await run(inOpen, ["--workdir"], ["/bin/pwd"])).toMatchObject({ code: 0, out: `${open}\n` });
    const inClosed = await started(asUser(MALLORY, ...UP), closed);
    const entered = await run(inClosed, ["--workdir"], ["/bin/pwd"]);
    expect(entered).toMatchObject({ code: 0, out: "/\n" });
    expect(entered.errors).toContain("the working directory of the allocation cannot be entered: Permission denied");
  });

  test("in a user namespace of the job the command stays its user", async () => {
    const pid = await started(asUser(MALLORY, "unshare", "--user", "--map-root-user", "--mount", ...UP));
    const script = "id -u; echo up; exec sleep 60";
    const words = [`--target=${pid}`, `--setuid=${MALLORY}`, `--setgid=${MALLORY}`, "--groups=", "--mount", "--user"];
    const inside = await started([enterProgram() ?? "", ...words, "--", "/bin/sh", "-c", script]);
    expect(
      execFileSync("grep", ["^Uid", `/proc/${inside}/status`])
        .toString()
        .split(/\s+/)
        .slice(1, 5),
    ).toEqual(Array.from({ length: 4 }, () => String(MALLORY)));
  });

  test("incomplete words and variables are refused", async () => {
    const pid = await started(asUser(MALLORY, ...UP));
    for (const words of [["--setuid=x"], ["--setuid=-1"], ["--setuid=4294967295"], ["--unknown"], ["--target=4194303"]])
      expect(await run(pid, words, ["/usr/bin/id"]), words[0]).toMatchObject({ code: 126, out: "" });
    expect(await run(pid, [], ["/usr/bin/id"], "A=b")).toMatchObject({ code: 126, out: "" });
    expect(await run(pid, [], ["no-such-program"])).toMatchObject({ code: 127 });
  });
});
