// Containers by Sarus, played by a program that takes Sarus's documented words and nothing else: it keeps what was pulled and by
// whom, gives the environment as Sarus does (the caller's, the image's, what was named), and runs the command.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { descendsFrom } from "../../src/runtime/attempt/reattach.ts";
import { readInit } from "../../src/runtime/base/attempt-files.ts";
import { found } from "../fake-server.ts";
import { alive, type Rig, rig } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const STAND_IN = (folder: string): string => `#!/bin/sh
repository=${folder}/repository
note() { printf '%s\\n' "$(id -u) $*" >>${folder}/calls; }
command=$1; shift
case $command in
pull)
  note pull "$1"
  case $1 in *missing*) echo "Failed to pull image '$1'" >&2; exit 1 ;; esac
  echo "$1" >>"$repository" ;;
images)
  echo "REPOSITORY TAG DIGEST IMAGE ID CREATED SIZE SERVER"
  grep -q @ "$repository" && echo "hpc/app <none> ${DIGEST} e3671980822d 2022 2.61MB docker.io" ;;
run)
  PATH=/image/bin:/usr/bin:/bin
  while :; do case $1 in
    --workdir=*) cd "\${1#*=}" || exit 1 ;;
    --mount=type=bind,source=/*,destination=/*|--device=/*) note "$1" ;;
    --env) shift; case $1 in *=*) export "$1" ;; PATH) eval "PATH=\\$GIVEN_PATH" ;; esac ;;
    --entrypoint) shift; [ -z "$1" ] || exit 1 ;;
    -*) echo "unrecognised option '$1'" >&2; exit 1 ;;
    *) break ;;
  esac; shift; done
  grep -qxF "$1" "$repository" || { echo "Specified image $1 is not available" >&2; exit 1; }
  note run "$1"; shift
  "$@" ;;
*) exit 1 ;;
esac
`;

let r: Rig;
let folder: string;
let path: string | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-sarus-"));
  mkdirSync(join(folder, "bin"));
  for (const name of ["calls", "repository"]) writeFileSync(join(folder, name), "", { mode: 0o666 });
  for (const name of ["calls", "repository"]) chmodSync(join(folder, name), 0o666);
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "bin", "sarus"), STAND_IN(folder), { mode: 0o755 });
  writeFileSync(join(folder, "users"), "ada 54321 54321\n");
  path = process.env.PATH;
  process.env.PATH = `${join(folder, "bin")}:${path}`;
  const userMapping = { kind: "file", path: join(folder, "users") } as const;
  r = await rig({ options: { software: { ...DEFAULT_SOFTWARE, containerRuntime: "sarus", userMapping } } });
});
afterAll(async () => {
  process.env.PATH = path;
  await r.close();
  rmSync(folder, { recursive: true, maxRetries: 9 });
});

const calls = (): string[] => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
const image = "docker.io/hpc/app:1";

describe("containers by Sarus", () => {
  test("the node reports Sarus", () => {
    const runtimes = r.server.hellos[0]?.capabilities?.runtimes ?? [];
    expect(runtimes).toContain("sarus");
    expect(runtimes).not.toContain("podman");
  });

  test("containers are pulled and run as the user, with the job's environment, mounts and script", async () => {
    r.server.run({
      allocationId: "1",
      user: "ada",
      script:
        '#!/bin/sh\nid -u; echo "$X $PATH $LD_LIBRARY_PATH"; pwd; touch $LATTICE_SCRATCH/x && echo written; exit 5\n',
      workdir: "/",
      environment: { image },
      variables: { X: "of the job", LD_LIBRARY_PATH: "/mine" },
    });
    expect(await r.server.end("1"), r.file("1", "stderr")).toMatchObject({ reason: "exit_code", exitCode: 5 });
    expect(r.file("1", "stdout")).toBe("54321\nof the job /image/bin:/usr/bin:/bin /mine\n/\nwritten\n");
    const output = calls();
    expect(output).toContain(`54321 pull ${image}`);
    expect(output).toContain(`54321 run ${image}`);
    expect(output.filter((line) => line.includes("--mount")).join()).toMatch(/script,destination=\S+script,readonly/);
  });

  test("an image with a present digest is not pulled again", async () => {
    for (const allocationId of ["2", "3"]) {
      const pinned = { image: `hpc/app:1@${DIGEST}` };
      r.server.run({ allocationId, user: "ada", entrypoint: "true", environment: pinned });
      expect(await r.server.end(allocationId), r.file(allocationId, "stderr")).toMatchObject({ exitCode: 0 });
    }
    expect(calls().filter((line) => line.includes(`pull hpc/app:1@`))).toHaveLength(1);
  });

  test("a stopped container ends whatever it does", async () => {
    r.server.run({
      allocationId: "4",
      user: "ada",
      entrypoint: "trap '' TERM; echo up; sleep 600 & wait",
      environment: { image },
    });
    await found(() => r.file("4", "stdout").includes("up"));
    const pid = Number(await found(() => r.file("4", "init.pid").trim()));
    r.server.stop({ allocationId: "4", graceSeconds: 1 });
    expect(await r.server.end("4")).toMatchObject({ reason: "stopped" });
    expect(alive(pid)).toBe(false);
  });

  test("a container that names a process outside of it as its first one is not entered", async () => {
    const other = spawn("/usr/bin/setpriv", [
      ...["--reuid=54321", "--regid=54321", "--clear-groups", "/bin/sleep", "600"],
    ]);
    r.server.run({ allocationId: "9", user: "ada", entrypoint: "echo up; sleep 600", environment: { image } });
    await found(() => r.file("9", "stdout").includes("up"));
    const dir = join(r.dataDir, "attempts", "9.1");
    const named = Number(await found(() => r.file("9", "init.pid").trim()));
    const wrapper = Number(readFileSync(join(dir, "pid"), "utf8").split(" ")[0]);
    expect(readInit(dir)).toEqual({ pid: named, isCertain: false });
    expect(descendsFrom(named, wrapper)).toBe(true);
    // As the job's user, who owns the file.
    writeFileSync(join(dir, "init.pid"), `${other.pid}\n`);
    expect(readInit(dir)).toEqual({ pid: other.pid, isCertain: false });
    expect(descendsFrom(other.pid ?? 0, wrapper)).toBe(false);
    other.kill("SIGKILL");
    r.server.stop({ allocationId: "9", graceSeconds: 1 });
    await r.server.end("9");
  });

  test("the agent reads the first process by a name that no user reaches and nothing can be mounted on", async () => {
    r.server.run({ allocationId: "10", user: "ada", entrypoint: "sleep 600", environment: { image } });
    const named = Number(await found(() => r.file("10", "init.pid").trim()));
    const dir = join(r.dataDir, "attempts", "10.1");
    expect(statSync(join(dir, "engine"))).toMatchObject({ uid: 0, mode: 0o040700 });
    const [own, shown] = ["engine/init.pid", "init.pid"].map((name) => statSync(join(dir, name)).ino);
    expect(own).toBe(shown);
    // Stands for a file system of the user's, which never answers.
    execFileSync("mount", ["--bind", "/dev/full", join(dir, "init.pid")]);
    try {
      expect(readInit(dir)).toEqual({ pid: named, isCertain: false });
    } finally {
      execFileSync("umount", [join(dir, "init.pid")]);
    }
    r.server.stop({ allocationId: "10", graceSeconds: 1 });
    await r.server.end("10");
  });

  test("an unavailable image fails the prologue with its reason", async () => {
    r.server.run({ allocationId: "5", user: "ada", entrypoint: "true", environment: { image: "hpc/missing:1" } });
    expect((await r.server.end("5")).message).toContain("(image): cannot pull hpc/missing:1: Failed to pull image");
    r.server.run({ allocationId: "6", user: "ada", entrypoint: "true", environment: { image, readOnly: true } });
    expect((await r.server.end("6")).message).toContain(
      "(container): Sarus, which runs containers here, cannot keep a root",
    );
    r.server.run({ allocationId: "7", user: "ada", entrypoint: "true", workdir: "/no/such", environment: { image } });
    expect(await r.server.end("7")).toMatchObject({ reason: "prologue_failed" });
  });
});

test("a node without Sarus fails the prologue with that reason, and uses no other engine", async () => {
  const before = process.env.PATH;
  process.env.PATH = path;
  const other = await rig({ options: { software: { ...DEFAULT_SOFTWARE, containerRuntime: "sarus" } } });
  process.env.PATH = before;
  expect(existsSync("/usr/bin/sarus")).toBe(false);
  other.server.run({ allocationId: "8", entrypoint: "true", environment: { image } });
  const { message } = await other.server.end("8");
  expect(message).toContain("(container): sarus is not installed on this node (--container-runtime)");
  await other.close();
});
