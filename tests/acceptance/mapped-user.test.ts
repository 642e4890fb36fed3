// Terminals and tasks of an unprivileged user on nodes whose agent is root: they have the user's ids and groups, and
// no program of root trusts a setting of the user. In plain attempts and with an image.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { compileMpi } from "../harness/mpi.ts";
import { isAlive, pidsIn } from "../harness/processes.ts";
import { programPath } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const UID = 54321;
const GID = 54322;
const IDS = `${UID} ${GID} ${GID} 27 100`;
const folder = mkdtempSync("/var/tmp/lattice-mapped-");
const [users, registry, traps, sprung] = ["users", "registry", "traps", "sprung"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
  string,
];
chmodSync(folder, 0o755);
writeFileSync(users, `ada ${UID} ${GID} 27 100\n`);

/** Programs that root would run if it used the job's PATH: each records its user. */
mkdirSync(traps);
writeFileSync(sprung, "");
chownSync(sprung, UID, GID);
for (const name of ["script", "stty", "nsenter", "setpriv", "unshare", "mount", "sh", "env", "node"]) {
  writeFileSync(join(traps, name), `#!/bin/sh\n/usr/bin/id -u >>${sprung}\nPATH=/usr/bin:/bin exec ${name} "$@"\n`);
  chmodSync(join(traps, name), 0o755);
}

mkdirSync(registry);
const tree = mkdtempSync(join(folder, "tree-"));
chmodSync(tree, 0o755);
writeFileSync(join(tree, "is-here"), "yes\n");
execFileSync("mksquashfs", [tree, join(registry, "tools_1_v1.squashfs"), "-noappend", "-quiet", "-no-progress"], {
  stdio: "ignore",
});

const hello = compileMpi(folder, "hello", "openmpi");

const cluster = useCluster({
  nodes: 1,
  agentArgs: [
    ...["--user-mapping", `file:${users}`, "--allow-unauthenticated", "--umask", "0037"],
    ...["--registry", registry, "--cache-min-free", "0"],
  ],
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
beforeAll(async () => {
  const indexed = await cluster.cli(["uenv", "index", registry]);
  expect(indexed, indexed.stderr).toMatchObject({ code: 0 });
});

const PROGRAMS = dirname(programPath("lattice"));
const ADA = { headers: { "x-lattice-user": "ada" } };
const asAda = (args: readonly string[]) => cluster.cli(args, { env: { LATTICE_USER: "ada", USER: "ada" } });
const WHO =
  'umask; pwd; echo "$(/usr/bin/id -u) $(/usr/bin/id -g) $(/usr/bin/id -G)"; echo "$PATH"; echo "$LD_LIBRARY_PATH"';
const CHOSEN = { PATH: `${traps}:/usr/bin:/bin`, LD_LIBRARY_PATH: "/opt/mine", NODE_OPTIONS: "--no-such-option" };

describe.each([
  ["plain", {}],
  ["in an image", { uenv: "tools/1:v1" }],
])("%s", (_name, software) => {
  let id = "";
  beforeAll(async () => {
    id = await cluster.submit({ entrypoint: "pwd; sleep 600", env: CHOSEN, ...software }, ADA);
    await cluster.reaches(id, ["running"]);
    const where = await eventually({ what: "it says where it stands" }, async () => {
      const { stdout } = await asAda(["logs", id]);
      return stdout.trim() === "" ? null : stdout.trim();
    });
    // The programs of Lattice follow those of the job.
    expected = ["0037", where, IDS, `${CHOSEN.PATH}:${PROGRAMS}`, CHOSEN.LD_LIBRARY_PATH];
  });
  afterAll(async () => {
    await cluster.api("DELETE", `/allocations/${id}`);
    await cluster.ends(id);
  });

  let expected: readonly string[] = [];
  const rootWasHere = (): boolean => readFileSync(sprung, "utf8").split("\n").includes("0");

  test("a terminal runs as the user, and root trusts none of the user's settings", async () => {
    const shown = await asAda(["attach", id, `--command=${WHO}`]);
    expect(shown.stdout.replaceAll("\r", "").trim().split("\n"), shown.stderr).toEqual(expected);
    expect(rootWasHere()).toBe(false);
  });

  test("tasks run as the user, and root trusts none of the user's settings", async () => {
    const launched = await asAda(["launch", `--alloc=${id}`, "-n", "2", "--env", "EXTRA=1", "/bin/sh", "-c", WHO]);
    expect(launched, launched.stderr).toMatchObject({ code: 0 });
    expect(launched.stdout.trim().split("\n").toSorted()).toEqual([...expected, ...expected].toSorted());
    expect(rootWasHere()).toBe(false);
  });

  test("OpenMPI ranks get PMIx without an account on the node and without access to the agent's folder", async () => {
    expect(statSync(cluster.dir).mode & 0o077).toBe(0);
    const launched = await asAda(["launch", `--alloc=${id}`, "-n", "2", "--pmi=pmix", hello]);
    expect(launched, launched.stderr).toMatchObject({ code: 0 });
    expect(launched.stdout.trim().split("\n").toSorted()).toEqual(["rank 0 of 2", "rank 1 of 2"]);
    expect(rootWasHere()).toBe(false);
  });

  test("tasks use a /dev/shm private to the attempt", async () => {
    const foreign = mkdtempSync("/dev/shm/lattice-mapped-");
    try {
      const looked = await asAda(["launch", `--alloc=${id}`, "-n", "1", "/bin/sh", "-c", "/usr/bin/ls -A /dev/shm"]);
      expect(looked).toMatchObject({ code: 0, stdout: "" });
    } finally {
      rmSync(foreign, { recursive: true, maxRetries: 9 });
    }
  });

  test("kill -9 of the shepherd ends its tasks", async () => {
    const noted = join(folder, `tasks-${id}`);
    writeFileSync(noted, "");
    chownSync(noted, UID, GID);
    const line = `echo $$ >>${noted}; /usr/bin/sleep 600; :`;
    const launched = asAda(["launch", `--alloc=${id}`, "-n", "2", "/bin/sh", "-c", line]);
    const tasks = await eventually({ what: "its tasks are there" }, () => {
      const pids = pidsIn(noted);
      return pids.length === 2 ? pids : null;
    });
    const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${tasks[0]}/status`, "utf8"))?.[1];
    process.kill(Number(parent), "SIGKILL");
    expect((await launched).code).not.toBe(0);
    await eventually({ what: "its tasks are gone" }, () => (tasks.some(isAlive) ? null : true));
  });
});
