// The native program beside a root agent, with folders that a user has prepared against it. Needs root, like the program.
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtBeside } from "../../src/base/built-beside.ts";
import { directFiles } from "../../src/files/direct-files.ts";
import { encodeRequest, readReplies } from "../../src/files/messages.ts";
import { openUserFiles } from "../../src/files/open-user-files.ts";
import type { FileUser, UserFiles } from "../../src/files/user-files.ts";

const isRoot = process.getuid?.() === 0;
const MALLORY: FileUser = { uid: 54_321, gid: 54_321, groups: [54_321] };
let dir = "";
let files: UserFiles;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "lattice-files-"));
  chmodSync(dir, 0o755);
  files = await openUserFiles({ isRoot, jobsAreRoot: false });
});
afterEach(() => {
  files.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const asMallory = (script: string): string =>
  execFileSync("/usr/bin/setpriv", [
    ...["--reuid=54321", "--regid=54321", "--clear-groups", "/usr/bin/python3", "-c", script],
  ]).toString();

/** A folder of the user's below the test folder. */
function userFolder(...names: string[]): string {
  let path = dir;
  for (const name of names) {
    path = join(path, name);
    mkdirSync(path, { recursive: true });
  }
  chownSync(path, MALLORY.uid, MALLORY.gid);
  return path;
}

const owned = { parts: ["physics", "default", "7", "checkpoints"], ownedFrom: 2, mode: 0o755 };

describe.runIf(isRoot)("the identity of a request", () => {
  test("a user that is not a plain number below 2^32-1 is refused, and so is root", async () => {
    const folder = userFolder("own");
    for (const uid of [Number.NaN, 4_294_967_295, -1, 4_294_967_296, 1.5, 0]) {
      const user = { ...MALLORY, uid };
      await expect(files.make(join(folder, "x"), user), String(uid)).rejects.toMatchObject({ code: /EINVAL|EPERM/ });
      await expect(files.makeOwned({ ...owned, base: dir }, user), String(uid)).rejects.toThrow();
    }
    for (const gid of [Number.NaN, 4_294_967_295])
      await expect(files.make(join(folder, "x"), { ...MALLORY, gid })).rejects.toMatchObject({ code: "EINVAL" });
    const groups = [54_321, 4_294_967_295];
    await expect(files.make(join(folder, "x"), { ...MALLORY, groups })).rejects.toMatchObject({ code: "EINVAL" });
    expect(readdirSync(dir)).toEqual(["own"]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("more groups than the kernel knows are refused, not cut", async () => {
    const groups = Array.from({ length: 65_537 }, () => 1);
    await expect(files.make(join(dir, "x"), { ...MALLORY, groups })).rejects.toMatchObject({ code: "EINVAL" });
  });

  test("root is accepted where jobs run as root", async () => {
    const rooted = await openUserFiles({ isRoot, jobsAreRoot: true });
    await rooted.make(join(dir, "x"), null);
    expect(statSync(join(dir, "x")).uid).toBe(0);
    rooted.close();
  });
});

describe.runIf(isRoot)("folders of users", () => {
  test("an owned folder is made below folders of root's", async () => {
    await files.makeOwned({ ...owned, base: dir }, MALLORY);
    expect(statSync(join(dir, "physics", "default")).uid).toBe(0);
    for (const path of ["physics/default/7", "physics/default/7/checkpoints"])
      expect(statSync(join(dir, path))).toMatchObject({ uid: MALLORY.uid, mode: 0o040755 });
    await files.makeOwned({ ...owned, base: dir }, MALLORY);
  });

  test("a folder above it that others own or can write is refused", async () => {
    userFolder("physics");
    await expect(files.makeOwned({ ...owned, base: dir }, MALLORY)).rejects.toThrow(/belongs to another user/);
    chownSync(join(dir, "physics"), 0, 0);
    chmodSync(join(dir, "physics"), 0o777);
    await expect(files.makeOwned({ ...owned, base: dir }, MALLORY)).rejects.toMatchObject({ code: "EPERM" });
    chmodSync(join(dir, "physics"), 0o755);
    chmodSync(dir, 0o777);
    await expect(files.makeOwned({ ...owned, base: dir }, MALLORY)).rejects.toMatchObject({ code: "EPERM" });
    chmodSync(dir, 0o1777);
    await files.makeOwned({ ...owned, base: dir }, MALLORY);
  });

  test("a link in the place of a folder is refused, and a folder with content of root's is not given away", async () => {
    await files.makeOwned({ ...owned, base: dir }, MALLORY);
    const place = join(dir, "physics/default/7");
    asMallory(`import os; os.rmdir("${place}/checkpoints"); os.symlink("/etc", "${place}/checkpoints")`);
    await expect(files.makeOwned({ ...owned, base: dir }, MALLORY)).rejects.toMatchObject({ code: /ELOOP|ENOTDIR/ });
    mkdirSync(join(dir, "physics/default/8/inside"), { recursive: true });
    const parts = ["physics", "default", "8", "checkpoints"];
    await expect(files.makeOwned({ ...owned, parts, base: dir }, MALLORY)).rejects.toMatchObject({ code: "EPERM" });
    expect(statSync(join(dir, "physics/default/8")).uid).toBe(0);
  });

  test("checkpoints are removed with the rights of the folder's owner, also of nobody", async () => {
    const nobody = { uid: 65_534, gid: 65_534, groups: [65_534] };
    await files.makeOwned({ ...owned, base: dir }, nobody);
    const folder = join(dir, "physics/default/7/checkpoints");
    const precious = join(dir, "precious");
    mkdirSync(join(precious, "1"), { recursive: true });
    mkdirSync(join(folder, "1"));
    symlinkSync(precious, join(folder, "1", "link"));
    for (const name of ["1", "2", "3", "notes", "07"]) {
      mkdirSync(join(folder, name), { recursive: true });
      chownSync(join(folder, name), nobody.uid, nobody.gid);
    }
    chmodSync(join(folder, "2"), 0);
    await files.prune({ ...owned, base: dir }, { below: 3, kept: [1], whose: "nobody" });
    expect(readdirSync(folder).sort()).toEqual(["07", "1", "3", "notes"]);
    // The user's doing: root must not follow it.
    rmSync(folder, { recursive: true });
    symlinkSync(precious, folder);
    await expect(files.prune({ ...owned, base: dir }, { below: null, kept: [], whose: "nobody" })).rejects.toThrow();
    expect(readdirSync(precious)).toEqual(["1"]);
    rmSync(folder);
    mkdirSync(join(folder, "9"), { recursive: true });
    for (const path of [folder, join(folder, "9")]) chownSync(path, nobody.uid, nobody.gid);
    await files.prune({ ...owned, base: dir }, { below: null, kept: [], whose: "nobody" });
    expect(existsSync(folder)).toBe(false);
  });
});

describe.runIf(isRoot)("trees of users", () => {
  test("trees that are deeper than descriptors last are removed", async () => {
    const tree = userFolder("base", "1.1");
    asMallory(`
import os
os.chdir("${tree}")
for level in range(1200):
    os.mkdir("d"); os.mkdir("e"); open("e/file", "w"); os.chdir("d")`);
    await files.clear(join(dir, "base"), "1.1");
    expect(readdirSync(join(dir, "base"))).toEqual([]);
  });

  test("a wide tree below the last level is removed", async () => {
    const tree = userFolder("base", "1.1");
    asMallory(`
import os
os.chdir("${tree}")
for level in range(70): os.mkdir("d"); os.chdir("d")
for number in range(500): os.makedirs(f"w{number}/deep/deeper"); os.chmod(f"w{number}/deep", 0)`);
    await files.clear(join(dir, "base"), "1.1");
    expect(readdirSync(join(dir, "base"))).toEqual([]);
  });

  test("a deep tree of checkpoints is removed as the user, with folders that the user has closed", async () => {
    await files.makeOwned({ ...owned, base: dir }, MALLORY);
    const folder = join(dir, "physics/default/7/checkpoints");
    asMallory(`
import os
os.mkdir("${folder}/1"); os.chdir("${folder}/1")
for level in range(700): os.mkdir("d"); os.chdir("d")
os.mkdir("${folder}/2"); os.mkdir("${folder}/2/closed"); open("${folder}/2/closed/file", "w")
os.chmod("${folder}/2/closed", 0); os.chmod("${folder}/2", 0)`);
    await files.prune({ ...owned, base: dir }, { below: null, kept: [], whose: "mallory" });
    expect(existsSync(folder)).toBe(false);
  });

  test("mounts below are detached, and what is mounted keeps its files", async () => {
    const tree = userFolder("base", "1.1");
    const precious = join(dir, "precious");
    mkdirSync(precious);
    writeFileSync(join(precious, "file"), "precious");
    for (const at of ["a", "b", "b"]) {
      mkdirSync(join(tree, "d", at), { recursive: true });
      execFileSync("mount", ["--bind", precious, join(tree, "d", at)]);
    }
    writeFileSync(join(tree, "d", "on-file"), "");
    execFileSync("mount", ["--bind", join(precious, "file"), join(tree, "d", "on-file")]);
    await files.clear(join(dir, "base"), "1.1");
    expect(readdirSync(join(dir, "base"))).toEqual([]);
    expect(readFileSync(join(precious, "file"), "utf8")).toBe("precious");
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(tree);
  });

  test("a link, a pipe and a socket are removed as names", async () => {
    const tree = userFolder("base", "1.1");
    mkdirSync(join(dir, "precious"));
    writeFileSync(join(dir, "precious", "file"), "");
    symlinkSync(join(dir, "precious"), join(tree, "link"));
    execFileSync("mkfifo", [join(tree, "pipe")]);
    await files.clear(join(dir, "base"), "1.1");
    expect(readdirSync(join(dir, "precious"))).toEqual(["file"]);
    symlinkSync(join(dir, "precious"), join(dir, "base", "1.1"));
    await files.clear(join(dir, "base"), "1.1");
    expect(readdirSync(dir).sort()).toEqual(["base", "precious"]);
    chmodSync(join(dir, "base"), 0o777);
    await expect(files.clear(join(dir, "base"), "x")).rejects.toMatchObject({ code: "EPERM" });
  });
});

describe.runIf(isRoot)("small files", () => {
  test("what a user puts in the place of a file gives nothing and changes nothing", async () => {
    const folder = userFolder("own");
    const shadow = join(dir, "shadow");
    writeFileSync(shadow, "secret", { mode: 0o600 });
    symlinkSync(shadow, join(folder, "link"));
    linkSync(shadow, join(folder, "hard"));
    execFileSync("mkfifo", ["-m", "666", join(folder, "pipe")]);
    for (const name of ["link", "hard", "pipe", "none"]) {
      await expect(files.head(join(folder, name), MALLORY, 64), name).rejects.toThrow();
      await expect(files.poke(join(folder, name), [[0, 1]], MALLORY), name).rejects.toThrow();
      await files.put(folder, name, "text\n", MALLORY);
      expect(lstatSync(join(folder, name))).toMatchObject({ uid: MALLORY.uid, nlink: 1 });
    }
    expect(readFileSync(shadow, "utf8")).toBe("secret");
    await files.poke(join(folder, "none"), [[4, 7]], MALLORY);
    expect((await files.head(join(folder, "none"), MALLORY, 64)).readUInt32LE(4)).toBe(7);
    expect((await files.head(join(folder, "none"), MALLORY, 2)).toString()).toBe("te");
    await expect(files.read(join(folder, "none"), MALLORY, 2)).rejects.toMatchObject({ code: "EFBIG" });
    await files.drop(folder, "none", MALLORY);
    expect(readdirSync(folder).sort()).toEqual(["hard", "link", "pipe"]);
  });

  test("a program is looked for with the rights of the user", async () => {
    const bin = join(dir, "bin");
    mkdirSync(bin, { mode: 0o700 });
    writeFileSync(join(bin, "tool"), "#!/bin/sh\n", { mode: 0o755 });
    expect(await files.missingProgram(`/nowhere:${bin}`, ["tool"], MALLORY)).toBe("tool");
    chmodSync(bin, 0o755);
    expect(await files.missingProgram(`/nowhere:${bin}`, ["tool", "other"], MALLORY)).toBe("other");
    expect(await files.missingProgram(`/nowhere:${bin}`, ["tool"], MALLORY)).toBeNull();
  });
});

describe.runIf(isRoot)("processes", () => {
  test("the storage bytes of processes are summed, and absent processes count nothing", async () => {
    const script = `
import os
with open("${join(dir, "written")}", "wb") as file: file.write(b"x" * 1048576); file.flush(); os.fsync(file.fileno())
print("up", flush=True); input()`;
    const child = spawn("/usr/bin/python3", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const pid = child.pid ?? 0;
    const own = await directFiles.io([pid], "1.1");
    expect(await files.io([pid, 4_194_303], "1.1")).toEqual(own);
    expect(await files.io([pid, pid], "1.1")).toEqual({
      readBytes: 2 * own.readBytes,
      writtenBytes: 2 * own.writtenBytes,
    });
    child.kill();
  });
});

/** Sends bytes to a program of its own, and collects its replies. */
function rawProgram() {
  const child = spawn(builtBeside("lattice-files") ?? "", [], { stdio: ["pipe", "pipe", "ignore"] });
  const replies: string[] = [];
  readReplies(
    child.stdout,
    (reply) => replies.push(reply.toString().replaceAll("\0", " ")),
    () => undefined,
  );
  return { child, replies, send: (...fields: string[]) => child.stdin.write(encodeRequest(fields) as Buffer) };
}

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

describe.runIf(isRoot)("requests", () => {
  test("a request that is too long is refused, and the next one is answered", async () => {
    const { child, replies, send } = rawProgram();
    const long = Buffer.concat([Buffer.from("9\0k\0make\0"), Buffer.alloc(3 * 1024 * 1024, 120)]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(long.length);
    child.stdin.write(Buffer.concat([length, long]));
    send("10", "k", "probe");
    await expect.poll(() => replies).toEqual([expect.stringContaining("9 error E2BIG"), "10 ok "]);
    send("11", "k", "nothing");
    await expect.poll(() => replies.at(-1)).toContain("11 error EINVAL");
    child.kill();
  });

  test("stopped workers hold up one user only, and end when their request is cancelled", async () => {
    const { child, replies, send } = rawProgram();
    const folder = userFolder("own");
    execFileSync("mkfifo", ["-m", "666", join(dir, "hold")]);
    // Each worker of the user's is stopped as soon as it can be signalled.
    const stopper = spawn("/usr/bin/setpriv", [
      ...["--reuid=54321", "--regid=54321", "--clear-groups", "/usr/bin/python3", "-c"],
      `
import os, signal
while True:
    try:
        for pid in open("/proc/${child.pid}/task/${child.pid}/children").read().split():
            try: os.kill(int(pid), signal.SIGSTOP)
            except OSError: pass
    except OSError: break`,
    ]);
    const stopped = () =>
      childrenOf(child.pid ?? 0).filter((pid) =>
        /\) T /.test(readFileSync(`/proc/${pid}/stat`, { encoding: "utf8", flag: "r" })),
      );
    let sent = 0;
    await expect
      .poll(() => {
        for (let n = 0; n < 40; n += 1) send(`s${sent++}`, "user 54321", "size", "54321", "54321", "", "/usr", "3000");
        return stopped().length;
      })
      .toBe(16);
    stopper.kill("SIGKILL");
    send("other", "user 54322", "make", "54322", "54322", "", "/tmp");
    send("more", "user 54321", "make", "54321", "54321", "", folder);
    await expect
      .poll(() => replies.filter((reply) => /^(other|more) /.test(reply)).sort())
      .toEqual([expect.stringContaining("more error EBUSY"), "other ok "]);
    for (let n = 0; n < sent; n += 1) send(`s${n}`, "", "cancel");
    await expect.poll(() => childrenOf(child.pid ?? 0)).toEqual([]);
    send("again", "user 54321", "make", "54321", "54321", "", folder);
    await expect.poll(() => replies).toContain("again ok ");
    child.kill();
  });

  test("a request with a zero byte or of more than the limit is refused before it is sent", async () => {
    await expect(files.make("/tmp/a\0b", MALLORY)).rejects.toMatchObject({ code: "EINVAL" });
    await expect(files.make(`/${"x".repeat(300_000)}`, MALLORY)).rejects.toMatchObject({ code: "EINVAL" });
    await files.make(join(userFolder("own"), "after"), MALLORY);
  });

  test("the replies of many requests at once are not confused", async () => {
    const folder = userFolder("own");
    const names = Array.from({ length: 300 }, (_, number) => String(number));
    await Promise.all(names.map((name) => files.put(folder, name, `text of ${name}`, MALLORY)));
    const texts = await Promise.all(names.map((name) => files.head(join(folder, name), MALLORY, 100)));
    expect(texts.map(String)).toEqual(names.map((name) => `text of ${name}`));
  });
});

describe.runIf(isRoot)("what a process or a container's file can delay", () => {
  test("a text is found with what follows it, also between two blocks, and only in regular files of the user's", async () => {
    const folder = userFolder("own");
    const file = join(folder, "library");
    for (const before of [0, 262_140, 262_144, 600_000]) {
      writeFileSync(file, `${"x".repeat(before)}needle 1.2${"y".repeat(400)}`);
      expect((await files.search(file, "needle", MALLORY))?.toString(), String(before)).toBe(
        `needle 1.2${"y".repeat(246)}`,
      );
    }
    writeFileSync(file, "needle");
    expect(String(await files.search(file, "needle", MALLORY))).toBe("needle");
    expect(await files.search(file, "hay", MALLORY)).toBeNull();
    chmodSync(file, 0o600);
    await expect(files.search(file, "needle", MALLORY)).rejects.toMatchObject({ code: "EACCES" });
    execFileSync("mkfifo", ["-m", "666", join(folder, "pipe")]);
    await expect(files.search(join(folder, "pipe"), "needle", MALLORY)).rejects.toMatchObject({ code: /EINVAL|ENXIO/ });
    await expect(files.search("/dev/zero", "needle", MALLORY)).rejects.toMatchObject({ code: "EINVAL" });
  });

  test("the environment of a process comes from another process", async () => {
    const long = "x".repeat(500_000);
    const shell = ["--reuid=54321", "--regid=54321", "--clear-groups", "/bin/sh", "-c", "echo up; exec sleep 60"];
    const child = spawn("/usr/bin/setpriv", shell, {
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: "/usr/bin:/bin", A: long.slice(0, 100_000), B: long.slice(0, 100_000), C: "a\nb" },
    });
    try {
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      const environ = String(await files.environ(child.pid ?? 0, "7.1"));
      expect(environ.split("\0")).toEqual(expect.arrayContaining([`A=${long.slice(0, 100_000)}`, "C=a\nb"]));
    } finally {
      child.kill("SIGKILL");
    }
    await expect(files.environ(4_194_303, "7.1")).rejects.toMatchObject({ code: "ENOENT" });
    for (const pid of [-1, 1.5, Number.NaN])
      await expect(files.environ(pid, "7.1")).rejects.toMatchObject({ code: "EINVAL" });
  });
});
