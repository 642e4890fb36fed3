// Real pseudo-terminals on this machine, and how one comes into the namespaces of a process.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { quoted } from "../../src/base/shell-text.ts";
import { enter } from "../../src/terminal/enter.ts";
import { spanText } from "../../src/terminal/idle.ts";
import { openPty, type Pty } from "../../src/terminal/pty.ts";

const BASE = { joinBy: "", cwd: "/tmp", umask: "", size: { rows: 33, cols: 77 } };
const environment = { PATH: process.env.PATH ?? "", SHELL: "/bin/bash", TERM: "dumb" };

/** All that a command shows, and how it ends. */
async function shown(pty: Pty): Promise<{ text: string; code: number }> {
  let text = "";
  pty.output.on("data", (data: Buffer) => {
    text += data.toString();
  });
  return { code: await pty.exited, text };
}

const run = async (line: string): Promise<{ text: string; code: number }> =>
  shown(await openPty({ ...BASE, environment, command: ["/bin/sh", "-c", line] }));

describe("a pseudo-terminal", () => {
  test("a terminal has the requested size, directory and environment", async () => {
    const { text, code } = await run("[ -t 0 ] && [ -t 1 ] && stty size && pwd && echo $SHELL && exit 5");
    expect(text.replaceAll("\r", "").trim().split("\n")).toEqual(["33 77", "/tmp", "/bin/bash"]);
    expect(code).toBe(5);
  });

  test("a terminal passes input, sizes and signals, and can be hung up", async () => {
    const line =
      "trap 'echo winch; stty size' WINCH; trap 'echo usr1' USR1; trap 'exit 9' HUP; echo ready; while :; do sleep 0.02; done";
    const pty = await openPty({ ...BASE, environment, command: ["/bin/sh", "-c", line] });
    let text = "";
    const seen = (wanted: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!text.includes(wanted)) return;
          pty.output.off("data", look);
          resolve();
        };
        pty.output.on("data", look);
        look();
      });
    pty.output.on("data", (data: Buffer) => {
      text += data.toString();
    });
    await seen("ready");
    await pty.resize({ rows: 10, cols: 20 });
    await seen("10 20");
    await pty.signal("SIGUSR1");
    await seen("usr1");
    await pty.write(Buffer.from("typed"));
    await seen("typed");
    await pty.hangup();
    await pty.exited;
    expect(text).not.toContain("winch\r\nwinch");
  });

  test("exit codes of signals and missing commands are those of a shell", async () => {
    expect((await run("kill -TERM $$")).code).toBe(143);
    expect((await run("no-such-program-here")).code).toBe(127);
  });

  test("a program can clean up after a hangup", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lattice-test-"));
    try {
      const tidies = `trap 'sleep 0.3; echo tidied >${folder}/notes; exit' HUP; echo up; while :; do sleep 0.1; done`;
      const pty = await openPty({ ...BASE, environment, command: ["/bin/sh", "-c", tidies] });
      await new Promise((resolve) => pty.output.once("data", resolve));
      pty.output.resume();
      await pty.hangup();
      expect(await pty.exited).toBe(-1);
      await vi.waitUntil(() => existsSync(join(folder, "notes")), { timeout: 60_000 });
    } finally {
      await rm(folder, { recursive: true, maxRetries: 9 });
    }
  });

  test("a terminal joins every group of its allocation, and a failure is reported", async () => {
    const folder = await mkdtemp(join(tmpdir(), "lattice-test-"));
    try {
      const files = ["v2 procs", "memory", "cpuset"].map((name) => join(folder, name));
      const joinBy = files.join("\n");
      const pty = await openPty({ ...BASE, joinBy, environment, command: ["/bin/sh", "-c", "echo $$ up"] });
      const { text, code } = await shown(pty);
      const pid = text.split(" ")[0];
      expect(code).toBe(0);
      for (const file of files) expect((await readFile(file, "utf8")).trim()).toBe(pid);
      const more = [...files, join(folder, "gone", "tasks")].join("\n");
      const refused = await shown(await openPty({ ...BASE, joinBy: more, environment, command: ["echo", "inside"] }));
      expect(refused.code).toBe(126);
      expect(refused.text).toContain("cannot join the control group of the allocation");
      expect(refused.text).not.toContain("inside\r\n");
    } finally {
      await rm(folder, { recursive: true, maxRetries: 9 });
    }
  });

  test("command words are passed unchanged", async () => {
    const word = `a 'b' "c" $HOME \\ \n*`;
    expect(quoted("it's")).toBe(`'it'\\''s'`);
    const pty = await openPty({ ...BASE, environment, command: ["printf", "%s", word] });
    expect((await shown(pty)).text.replaceAll("\r", "")).toBe(word);
  });
});

const processOf = (pid: number) => ({
  ...{ pid, variables: { ONLY: "this" }, filters: "", owner: null },
});

describe("entering an attempt", () => {
  test("shared namespaces are not entered; the directory is the process's", async () => {
    const child = spawn("sleep", ["60"], { cwd: "/var" });
    try {
      const entered = await enter({ ...processOf(child.pid ?? 0), line: "echo $ONLY", term: "" });
      expect(entered).toEqual({
        prefix: [],
        shell: ["/bin/sh", "-c", "echo $ONLY"],
        owner: null,
        environment: { ONLY: "this", TERM: "xterm-256color" },
        cwd: "/var",
        umask: process.umask().toString(8).padStart(4, "0"),
      });
    } finally {
      child.kill();
    }
  });

  test.runIf(process.getuid?.() === 0)("every other namespace is entered", async () => {
    const script = "hostname inside-the-job; echo up; exec sleep 60";
    const child = spawn("unshare", ["--mount", "--uts", "--ipc", "sh", "-c", script], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      const entered = await enter({ ...processOf(child.pid ?? 0), line: "hostname", term: "vt100" });
      expect(entered?.prefix.slice(1, 5)).toEqual([`--target=${child.pid}`, "--mount", "--uts", "--ipc"]);
      const command = [...(entered?.prefix ?? []), ...(entered?.shell ?? [])];
      const pty = await openPty({ ...BASE, environment, command, cwd: "/" });
      expect((await shown(pty)).text.trim()).toBe("inside-the-job");
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("an ended process cannot be entered", async () => {
    expect(existsSync("/proc/4194303")).toBe(false);
    expect(await enter({ ...processOf(4_194_303), line: "", term: "" })).toBeNull();
  });
});

test.each([
  [5_000, "5 s"],
  [30 * 60_000, "30 minutes"],
  [(3 * 60 + 12) * 60_000, "3h 12m"],
])("%i ms is %s", (ms, text) => {
  expect(spanText(ms)).toBe(text);
});
