// Data from servers: only what the site allows, a bucket with the keys of its user alone, and nothing of them left behind.
// The mounter is a stand-in that notes how it was called and with which keys.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mountsProgram } from "../../src/base/mounts-program.ts";
import { openUserFiles } from "../../src/files/open-user-files.ts";
import type { UserFiles } from "../../src/files/user-files.ts";
import type { RunAs } from "../../src/host/user/user.ts";
import { parseOptions } from "../../src/options/options.ts";
import { type DataMount, writeEntry } from "../../src/runtime/base/entry-plan.ts";
import { SECRETS } from "../../src/runtime/base/remote-sources.ts";
import { dataMounts } from "../../src/runtime/prologue/mounts.ts";

const UID = 54341;
let dir: string;
let ada: RunAs;
let mounter: string;
let files: UserFiles;

beforeEach(async () => {
  files = await openUserFiles({ isRoot: process.getuid?.() === 0, jobsAreRoot: false });
  dir = mkdtempSync(join(tmpdir(), "lattice-remote-"));
  chmodSync(dir, 0o755);
  const home = join(dir, "home");
  mkdirSync(home);
  chownSync(home, UID, UID);
  ada = { name: "ada", uid: UID, gid: UID, groups: [UID], home, shell: "/bin/sh" };
  mkdirSync(join(dir, "attempt"), { mode: 0o700 });
  mounter = join(dir, "s3fs");
  writeFileSync(
    mounter,
    `#!/bin/sh
echo "$@" >${dir}/called
f=$(echo "$4" | tr , '\\n' | sed -n s/^passwd_file=//p)
[ -z "$f" ] || cat "$f" >${dir}/keys
[ ! -e ${dir}/broken ] || { echo "bucket is away" >&2; exit 1; }
mount -t tmpfs stand-in "$2" && echo from-bucket >"$2/object"
`,
  );
  chmodSync(mounter, 0o755);
});
afterEach(() => {
  files.close();
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

function keysOf(path: string, text: string, uid: number): string {
  writeFileSync(path, text, { mode: 0o600 });
  chownSync(path, uid, uid);
  return path;
}

function planned(mounts: readonly pb.Mount[], allowed: readonly string[], user: RunAs | null = ada) {
  const owner = { allocationId: "7", user: "ada", tenant: "t", project: "p" };
  const order = { ...create(pb.RunOrderSchema, owner), mounts: [...mounts] };
  const sources = { allowed, s3Url: "http://store:9000", s3Mounter: mounter, nfsMounter: "/bin/true" };
  return dataMounts({ homeSource: "", sources, files }, { order, dir: join(dir, "attempt") }, user);
}

const s3 = (source: string, more: Partial<pb.Mount> = {}): pb.Mount => ({
  ...create(pb.MountSchema, { source, target: "/mnt/set", access: "read-only" }),
  ...more,
});

test.each<[string, readonly string[], boolean]>([
  ["s3://sets/imagenet", ["s3://sets"], true],
  ["s3://sets", ["s3://sets/"], true],
  ["s3://home-ada/x", ["nfs://filer", "s3://home-{user}"], true],
  ["nfs://filer/projects/p", ["nfs://filer/projects/{project}"], true],
  ["s3://sets/imagenet", [], false],
  ["s3://sets2", ["s3://sets"], false],
  ["s3://home-bob", ["s3://home-{user}"], false],
  ["nfs://filer/home", ["nfs://filer/projects"], false],
  ["nfs://other/projects", ["nfs://filer/projects"], false],
])("%s where %j is allowed: %s", async (source, allowed, may) => {
  const made = planned([s3(source)], allowed);
  if (may) await expect(made).resolves.toHaveLength(1);
  else
    await expect(made).rejects.toMatchObject({
      stage: "mounts",
      message: `${source} is not among the sources that this node allows (--mount-allow)`,
    });
});

test("a bucket is mounted with the user's keys, which are removed afterwards", async () => {
  keysOf(join(ada.home, ".passwd-s3fs"), "# mine\nKEY:secret\n", UID);
  const mounts = await planned([s3("s3://sets/a/b", { target: join("/mnt", "lattice-remote") })], ["s3://sets"]);
  const output = runIn(mounts, "cat /mnt/lattice-remote/object");
  expect(output).toBe("from-bucket\n");
  const called = readFileSync(join(dir, "called"), "utf8");
  expect(called).toContain(
    `sets:/a/b ${dir}/attempt/mount-0 -o ro,nosuid,nodev,allow_other,uid=${UID},gid=${UID},umask=0077,`,
  );
  expect(called).toContain("url=http://store:9000,use_path_request_style,passwd_file=");
  expect(readFileSync(join(dir, "keys"), "utf8")).toBe("KEY:secret\n");
  expect(existsSync(join(dir, "attempt", SECRETS, "0"))).toBe(false);
});

test("keys are removed when a mount fails, and the stage has the reason", async () => {
  const credentials = keysOf(join(dir, "named"), "sets:KEY:secret\n", UID);
  writeFileSync(join(dir, "broken"), "");
  const at = "/mnt/lattice-remote";
  const mounts = await planned([s3("s3://sets", { target: at, credentials, access: "read-write" })], ["s3://sets"]);
  runIn(mounts, "true");
  expect(readFileSync(join(dir, "attempt", "unlaunched"), "utf8")).toBe(
    "prologue mounts the mount at /mnt/lattice-remote: bucket is away\n",
  );
  expect(existsSync(join(dir, "attempt", SECRETS, "0"))).toBe(false);
  expect(readFileSync(join(dir, "called"), "utf8")).not.toContain(" ro,");
});

test("a bucket without keys is mounted anonymously; unreadable or malformed keys fail", async () => {
  const [mount] = await planned([s3("s3://sets")], ["s3://sets"]);
  expect(mount?.kind === "run" && mount.words.at(-1)).toContain("public_bucket=1");
  const [own] = await planned([s3("s3://sets")], ["s3://sets"], null);
  expect(own?.kind === "run" && own.words.at(-1)).toBe(
    "ro,nosuid,nodev,allow_other,url=http://store:9000,use_path_request_style",
  );
  const roots = keysOf(join(dir, "roots"), "ROOT:secret\n", 0);
  await expect(planned([s3("s3://sets", { credentials: roots })], ["s3://sets"])).rejects.toThrow(
    "ada may not read the keys",
  );
  const pipe = join(ada.home, "pipe");
  execFileSync("mkfifo", [pipe]);
  await expect(planned([s3("s3://sets", { credentials: pipe })], ["s3://sets"])).rejects.toThrow("may not read");
  const none = keysOf(join(dir, "none"), "no keys at all\n", UID);
  await expect(planned([s3("s3://sets", { credentials: none })], ["s3://sets"])).rejects.toThrow(
    "are not lines of KEY:SECRET",
  );
  expect(existsSync(join(dir, "attempt", SECRETS))).toBe(false);
});

test("flags that allow no mountable source are refused", () => {
  const parse = (...args: string[]) => parseOptions(args, {}, "0").software;
  expect(parse("--mount-allow", "s3://a", "--mount-allow", "nfs://f/x").mountAllow).toEqual(["s3://a", "nfs://f/x"]);
  expect(parse().mountAllow).toEqual([]);
  for (const wrong of ["/data", "s3://", "nfs://f/../x", "http://x"]) {
    const script = `import { parseOptions } from "./packages/agent/src/options/options.ts"; parseOptions(["--mount-allow", "${wrong}"], {}, "0");`;
    const { status } = spawnSync(process.execPath, ["--import", "tsx", "-e", script], { stdio: "ignore" });
    expect(status, wrong).toBe(1);
  }
});

function runIn(mounts: readonly DataMount[], command: string): string {
  const attempt = join(dir, "attempt");
  const entry = { program: mountsProgram(), protects: [], privateTmp: false, privateTmpBytes: null, offers: [] };
  const variables = { PATH: "/usr/bin:/bin" };
  const plan = { dir: attempt, user: null, confined: false, home: null, workdir: "/", enters: false };
  const [program = "", ...words] = writeEntry(entry, { ...plan, steps: mounts, variables });
  try {
    return execFileSync(program, [...words, "/bin/sh", "-c", command], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  } finally {
    rmSync("/mnt/lattice-remote", { recursive: true, force: true, maxRetries: 9 });
  }
}

test.each([
  ["s3://-oallow_root/x", "is not the name of a bucket"],
  ["s3://-o/x", "is not the name of a bucket"],
  ["s3:///x", "is not the name of a bucket"],
  ["nfs://-overs=3/x", "is not the name of a server"],
  ["nfs:///x", "is not the name of a server"],
])("%s is refused: its name would be an option of a program of root's", async (source, problem) => {
  const { host = "" } = /^\w+:\/\/(?<host>[^/]*)/.exec(source)?.groups ?? {};
  await expect(planned([s3(source)], [source.slice(0, source.indexOf("/x"))])).rejects.toThrow(
    `${JSON.stringify(host)} ${problem}`,
  );
});
