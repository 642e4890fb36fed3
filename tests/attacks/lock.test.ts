// The lock of an agent on its data folder (finding 10c of the review): it was a socket name that every user can compute
// and take while the agent restarts.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { startProgram } from "../harness/program.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster();
const squatters: ChildProcess[] = [];
afterAll(() => {
  for (const one of squatters) one.kill("SIGKILL");
});

/** Both forms of the name: as it is, and padded to the whole address. */
const SQUAT = `import socket, sys, time
held = []
for path in sys.argv[1:]:
    for name in ("\\0" + path, ("\\0" + path).ljust(108, "\\0")):
        s = socket.socket(socket.AF_UNIX)
        s.bind(name)
        held.append(s)
print("bound", flush=True)
time.sleep(600)
`;

async function squat(paths: readonly string[]): Promise<void> {
  const names = paths.map((path) => `lattice-agent-${createHash("sha256").update(path).digest("hex").slice(0, 32)}`);
  const child = spawn("python3", ["-c", SQUAT, ...names], {
    uid: mallory.uid,
    gid: mallory.gid,
    stdio: ["ignore", "pipe", "inherit"],
  });
  squatters.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the names cannot be bound")));
  });
}

const dataDir = (): string => realpathSync(join(secured.cluster.dir, "agent-n1"));

test("an agent starts although a user has every name that can be computed", async () => {
  await secured.agent().kill();
  await squat([dataDir(), join(dataDir(), "agent-state.json")]);
  await secured.restartAgent();
  expect(secured.agent().isRunning()).toBe(true);
});

test("a user cannot open the files of the lock", () => {
  for (const name of [".lock", "agent-state.json.lock"]) {
    const path = join(dataDir(), name);
    expect(statSync(path)).toMatchObject({ uid: 0, mode: 0o100600 });
    expect(() => mallory.run(`flock -n ${path} true`)).toThrow();
  }
});

test("a second agent on the same folder is refused while the first runs", async () => {
  const logFile = join(secured.cluster.dir, "second.log");
  const args = ["--node-id", "n2", "--server", secured.cluster.grpcAddress, "--data-dir", dataDir()];
  const second = startProgram("lattice-agent", { args, logFile, env: { LATTICE_AGENT_TOKEN: "none" } });
  expect(await second.ended).toBe(1);
  expect(readFileSync(logFile, "utf8")).toContain("another agent is using the data directory");
  await eventually({ what: "the first agent runs" }, async () => (secured.agent().isRunning() ? true : null));
});
