// Terminals and tasks of an unprivileged user in a container: same seccomp profile, user and groups as the job, no
// capabilities, and an end with their shepherd, although the image has no helper programs.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { type Registry, startRegistry } from "../harness/registry.ts";
import { useCluster } from "../harness/use-cluster.ts";

const [UID, GID] = [54321, 54322];
const folder = mkdtempSync(join(tmpdir(), "lattice-entering-"));
chmodSync(folder, 0o755);
writeFileSync(join(folder, "users"), `ada ${UID} ${GID} 27 100\n`);
const registry: Registry = await startRegistry();
const cluster = useCluster({
  nodes: 2,
  agentArgs: [
    ...["--insecure-registry", registry.address, "--cache-min-free", "0"],
    ...["--user-mapping", `file:${join(folder, "users")}`, "--allow-unauthenticated"],
  ],
});
const ADA = { headers: { "x-lattice-user": "ada" } };
const asAda = (args: readonly string[]) => cluster.cli(args, { env: { LATTICE_USER: "ada", USER: "ada" } });
let id = "";
let image = "";

beforeAll(async () => {
  chmodSync(cluster.dir, 0o711);
  image = registry.push("plain", ["/usr/bin/grep", "/usr/bin/id"]);
  id = await cluster.submit({ image, entrypoint: `${SHOW}; while true; do sleep 1; done` }, ADA);
  await cluster.reaches(id, ["running"]);
});
afterAll(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const SHOW =
  "/usr/bin/grep -E '^(Uid|Gid|Groups|CapEff|CapBnd|NoNewPrivs|Seccomp|Seccomp_filters):' /proc/self/status; /usr/bin/id -u; umask";
const plain = (text: string): string => text.replaceAll("\r", "").trim();
const ofJob = (): Promise<string> =>
  eventually({ what: "the job says what it is" }, async () => {
    const { stdout } = await asAda(["logs", id]);
    return stdout.split("\n").length >= 10 ? plain(stdout) : null;
  });

test("a terminal has the user, groups and seccomp profile of its job", async () => {
  const own = await ofJob();
  expect(own).toMatch(/^Seccomp:\s+2$/m);
  expect(own).toMatch(/^CapBnd:\s+0+$/m);
  expect(own).toMatch(new RegExp(`^Groups:\\s+27 100 ${GID}`, "m"));
  const shown = await asAda(["attach", id, `--command=${SHOW}`]);
  expect(plain(shown.stdout), shown.stderr).toBe(own);
});

test("tasks have the user, groups and seccomp profile of their job", async () => {
  const launched = await asAda(["launch", `--alloc=${id}`, "-n", "1", "/bin/sh", "-c", SHOW]);
  expect(launched, launched.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(plain(launched.stdout)).toBe(await ofJob());
  const missing = await asAda(["launch", `--alloc=${id}`, "-n", "1", "/no/such"]);
  expect(missing.code).toBe(127);
});

test("kill -9 of the shepherd ends its tasks and their children", async () => {
  const line = 'echo "$$ $PPID"; sleep 600 & sleep 600; :';
  const launched = asAda(["launch", `--alloc=${id}`, "-n", "2", "/bin/sh", "-c", line]);
  // The caller and the starting process have the same command line for a while.
  const hasStarted = ({ pid }: Seen): boolean => {
    const started = children([pid]);
    return started.length >= 2 && children(started).length === 0;
  };
  const tasks = await eventually({ what: "its tasks have started" }, () => {
    const found = processes().filter((one) => one.words.includes(line) && hasStarted(one));
    return found.length >= 2 ? found : null;
  });
  const shepherd = tasks[0]?.parent ?? 0;
  const all = [...tasks.map(({ pid }) => pid), ...children(tasks.map(({ pid }) => pid))];
  process.kill(shepherd, "SIGKILL");
  expect((await launched).code).not.toBe(0);
  await eventually({ what: "all of them are gone" }, () => (all.some(isAlive) ? null : true));
  const { stdout } = await asAda(["status", id, "-o", "json"]);
  expect(stdout).toContain("running");
});

test("a job's script can call srun and lattice in an image without them", async () => {
  const script = `#!/bin/sh
srun -n 2 /bin/sh -c 'echo "task $LATTICE_RANK as $(/usr/bin/id -u)"'
srun -n 1 /bin/sh -c 'exit 3'; echo "srun said $?"
lattice launch -n 1 /bin/echo launched
srun --help >/dev/null && echo helped
lattice version >/dev/null && echo known
`;
  const job = await cluster.submit({ image, script }, ADA);
  const ended = await cluster.ends(job);
  const { stdout, stderr } = await asAda(["logs", job]);
  expect(ended, stdout + stderr).toMatchObject({ state: "completed" });
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 2).toSorted()).toEqual([0, 1].map((rank) => `task ${rank} as ${UID}`));
  expect(lines).toEqual(expect.arrayContaining(["srun said 3", "launched", "helped", "known"]));
});

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly words: readonly string[];
}

function processes(): Seen[] {
  const pids = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      if (!new RegExp(`^Uid:\\s+${UID}\\s`, "m").test(status)) return [];
      return [{ pid, parent: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), words }];
    } catch {
      return [];
    }
  });
}

const children = (of: readonly number[]): number[] =>
  processes()
    .filter(({ parent }) => of.includes(parent))
    .map(({ pid }) => pid);
