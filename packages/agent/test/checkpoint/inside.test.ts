// Checkpoints of real attempts: whatever acts for the agent with the rights of a user has the limits and the view of the
// user's job, so that tracing it gains nothing.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";
import { type ContainerRig, containerRig } from "../software/container-rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

const ADA = 54_321;
/** The limits of a process, as the process itself sees them. */
const FACTS = `id -u; cat /proc/self/cgroup; readlink /proc/self/ns/mnt; readlink /proc/self/ns/net
grep -E "^(NoNewPrivs|CapEff|Seccomp):" /proc/self/status`;
const DMTCP = (folder: string) => ({
  dmtcp_launch: `while :; do case $1 in
  --new-coordinator) shift ;;
  --port-file) echo 4711 >"$2"; shift 2 ;;
  --*) shift 2 ;;
  *) break ;;
esac; done
exec "$@"`,
  dmtcp_restart: ":",
  dmtcp_command: `exec >>${folder}/facts\n${FACTS}\n: >${folder}/asked; echo image >${folder}/out/t/p/1/checkpoints/dmtcp/a.dmtcp`,
});

let folder: string;
let r: Rig;
let containers: ContainerRig;

beforeAll(async () => {
  folder = mkdtempSync("/var/tmp/lattice-inside-");
  for (const name of ["bin", "out", "mounted"]) mkdirSync(join(folder, name));
  for (const name of ["facts", "asked"]) writeFileSync(join(folder, name), "");
  for (const [name, text] of Object.entries(DMTCP(folder)))
    writeFileSync(join(folder, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  execFileSync("chmod", ["-R", "a+rX", folder]);
  for (const name of ["facts", "asked"]) chmodSync(join(folder, name), 0o666);
  writeFileSync(join(folder, "users"), `ada ${ADA} ${ADA}\n`);
  containers = await containerRig();
  const userMapping = { kind: "file", path: join(folder, "users") } as const;
  const where = { outputDir: join(folder, "out"), insecureRegistries: [containers.registry], cacheMinFreeBytes: 0 };
  r = await rig({ options: { software: { ...DEFAULT_SOFTWARE, ...where, userMapping } } });
});
afterAll(async () => {
  await r.close();
  await containers.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

function ask(allocationId: string): void {
  const order = { allocationId, attempt: 1, number: 1, timeoutSeconds: 30 };
  r.server.send({ case: "checkpoint", value: create(pb.CheckpointOrderSchema, order) });
}
const result = (allocationId: string) =>
  found(() => {
    const text = r.file(allocationId, "checkpoint-result.json");
    return text === "" ? null : (JSON.parse(text) as { ok: boolean; bytes: number; message: string });
  });

test("dmtcp_command runs in the groups and the mounts of the attempt, as its user", async () => {
  const allocationId = "1";
  r.server.run({
    ...{ allocationId, user: "ada", tenant: "t", project: "p", workdir: "/" },
    checkpoint: { mode: "dmtcp" },
    variables: { PATH: `${join(folder, "bin")}:/usr/bin:/bin` },
    mounts: [{ source: join(folder, "mounted"), target: "/data/x" }],
    limits: { cpuCores: 1, memoryGb: 1 },
    entrypoint: `${FACTS}; echo up; while :; do sleep 0.1; done`,
  });
  await found(() => r.file(allocationId, "stdout").includes("up"));
  ask(allocationId);
  expect(await result(allocationId)).toMatchObject({ ok: true, bytes: 6 });
  const facts = readFileSync(join(folder, "facts"), "utf8");
  expect(facts).toBe(r.file(allocationId, "stdout").replace("up\n", ""));
  expect(facts).toMatch(new RegExp(`^${ADA}\n`));
  expect(facts).toMatch(/NoNewPrivs:\s+1/);
  r.server.stop({ allocationId, graceSeconds: 1 });
  await r.server.end(allocationId);
});

test("a program in a container is called from inside, with its limits and its filters", async () => {
  const allocationId = "2";
  const port = await freePort();
  const answer = `printf "HTTP/1.0 200 OK\\r\\n\\r\\n"; echo up >&2; sleep 1; echo "{\\"done\\": 5}"`;
  r.server.run({
    ...{ allocationId, user: "ada", tenant: "t", project: "p" },
    checkpoint: { mode: "grpc" },
    environment: { image: containers.image },
    limits: { cpuCores: 1, memoryGb: 1 },
    entrypoint: `printf http://127.0.0.1:${port}/save >$LATTICE_CHECKPOINT_ENDPOINT
(${answer}) | busybox nc -l -p ${port}; sleep 60`,
  });
  await found(() => r.file(allocationId, "stderr").includes("up"));
  const first = r.file(allocationId, "init.pid").trim();
  ask(allocationId);
  const relay = await found(() => processWith(`relay\0inet\x00127.0.0.1\0${port}\0`));
  // The container's own groups are below those of the attempt.
  const groups = groupsOf(relay).filter((line) => !line.endsWith(":/"));
  expect(groups.length).toBeGreaterThan(0);
  for (const line of groups)
    expect(
      groupsOf(first).some((other) => other.startsWith(`${line}/`)),
      line,
    ).toBe(true);
  const status = factOf(relay, "status");
  expect(status).toMatch(new RegExp(`^Uid:\\s+${ADA}\\s+${ADA}\\s+${ADA}\\s+${ADA}$`, "m"));
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Seccomp:\s+2$/m);
  expect(readFileSync(`/proc/${relay}/mountinfo`, "utf8")).toBe(readFileSync(`/proc/${first}/mountinfo`, "utf8"));
  expect(await result(allocationId)).toMatchObject({ ok: true, bytes: 5 });
  await found(() => processWith(`relay\0inet\x00127.0.0.1\0${port}\0`) === null);
  r.server.stop({ allocationId, graceSeconds: 1 });
  await r.server.end(allocationId);
});

const factOf = (pid: string, name: string): string => readFileSync(`/proc/${pid}/${name}`, "utf8");

const groupsOf = (pid: string): readonly string[] => factOf(pid, "cgroup").trim().split("\n");

function processWith(words: string): string | null {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.find((pid) => started(pid).startsWith(`/proc/self/fd/3\0${words}`)) ?? null;
}

function started(pid: string): string {
  try {
    return factOf(pid, "cmdline");
  } catch {
    return "";
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject()));
    });
  });
}
