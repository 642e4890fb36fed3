// Attacks on the way into a running attempt: its first process becomes root or another user for a moment, as every program
// with the setuid bit does, while its owner opens terminals and launches tasks.
import { chmodSync, copyFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const mallory = useAccount("m");
const secured = useSecuredCluster();
let suid = "";

/** The stand-in for sudo or su: a program of root's that everybody may run, and that becomes root. */
beforeAll(() => {
  suid = join(secured.victim, "stand-in");
  copyFileSync(realpathSync("/usr/bin/python3"), suid);
  chmodSync(suid, 0o4755);
});

async function runs(script: string): Promise<string> {
  const id = await secured.submit(mallory, { command: [suid, "-c", script] });
  await secured.reaches(id, ["running"]);
  return id;
}

const attach = (id: string) => secured.as(mallory, ["attach", id, "--command=id -u"]);

test("no terminal and no task enters by a process that has become root", async () => {
  const id = await runs("import os, time; os.setresuid(0, 0, 0); print('up', flush=True); time.sleep(600)");
  await expect.poll(() => secured.logs(mallory, id)).toContain("up");
  const terminal = await attach(id);
  expect(terminal.code).not.toBe(0);
  expect(terminal.stdout).toBe("");
  await secured.as(mallory, ["cancel", id]);
  await secured.ends(id);
});

test("terminals and tasks have their owner's uid while the process changes its own all the time", async () => {
  const script = `import os, sys, time
os.setresuid(0, 0, 0)
time.sleep(0.01)
os.setresuid(${mallory.uid}, ${mallory.uid}, ${mallory.uid})
time.sleep(0.01)
os.execv("${suid}", ["${suid}", "-c", sys.argv[1], sys.argv[1]])`;
  const id = await secured.submit(mallory, { command: [suid, "-c", script, script] });
  await secured.reaches(id, ["running"]);
  const launch = () => secured.as(mallory, ["launch", `--alloc=${id}`, "-n1", "id", "-u"]);
  const results = [];
  for (let round = 0; round < 2; round += 1)
    results.push(...(await Promise.all([attach(id), attach(id), attach(id), launch()])));
  for (const { code, stdout } of results) {
    const refused = stdout === "" || stdout.includes("its first process runs as another user now");
    expect(code === 0 ? stdout.trim() : refused, stdout).toBe(code === 0 ? `${mallory.uid}` : true);
  }
  const { state } = await secured.reaches(id, ["running"]);
  expect(state).toBe("running");
  await secured.as(mallory, ["cancel", id]);
});
