// The state file: it lists the running attempts, and processes that cannot be recovered are killed.

import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAgent } from "../../src/index.ts";
import type { AgentState } from "../../src/state/state-file.ts";
import { straysIn } from "../../src/state/strays.ts";
import { found } from "../fake-server.ts";
import { agentOptions, alive, type Rig, rig } from "../rig.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lattice-agent-state-"));
  path = join(folder, "agent-state.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

const state = (): AgentState => JSON.parse(readFileSync(path, "utf8")) as AgentState;
const running = (entrypoint: string): string => `echo $$; ${entrypoint}`;
const pidOf = async (r: Rig, id: string): Promise<number> => Number(await found(() => r.file(id, "stdout")));

test("the state file names exactly the attempts with processes, also after the agent stopped", async () => {
  const r = await rig({ options: { killWorkloadsOnExit: false, stateFile: path } });
  r.server.run({ allocationId: "1", entrypoint: running("while [ ! -e go ]; do sleep 0.05; done") });
  const pid = await pidOf(r, "1");
  const [entry] = await found(() => (existsSync(path) && state().attempts.length === 1 ? state().attempts : undefined));
  const dir = join(realpathSync(r.dataDir), "attempts", "1.1");
  expect(entry).toMatchObject({ attempt: "1.1", dir, runtime: "process", mounts: [], container: null });
  expect(alive(entry?.pid ?? 0)).toBe(true);
  await r.agent.close();
  expect(state().attempts).toEqual([entry]);
  expect(alive(pid)).toBe(true);
  await r.start();
  writeFileSync(join(dir, "go"), "");
  await r.server.end("1");
  await found(() => state().attempts.length === 0);
  expect(state()).toMatchObject({ version: 1, node: "n1", data_dir: realpathSync(r.dataDir), attempts: [] });
  await r.close();
});

test.each(["process_group", undefined] as const)(
  "an attempt whose folder is gone cannot be taken up: what is left of it is ended (%s)",
  async (isolation) => {
    const options = { killWorkloadsOnExit: false, stateFile: path };
    const r = await rig({ options, ...(isolation === undefined ? {} : { isolation }) });
    r.server.run({ allocationId: "2", entrypoint: running("sleep 600 & setsid -f sleep 601; wait") });
    const pid = await pidOf(r, "2");
    await found(() => existsSync(path) && state().attempts.length === 1);
    await r.agent.close();
    // As after a replaced disk or a manual cleanup.
    renameSync(join(r.dataDir, "attempts", "2.1"), join(folder, "lost"));
    await r.start();
    await found(() => !alive(pid));
    await found(() => state().attempts.length === 0);
    await r.close();
  },
);

test("a change of the data directory leaves no process of the old one", async () => {
  const r = await rig({ options: { killWorkloadsOnExit: false, stateFile: path } });
  r.server.run({ allocationId: "3", entrypoint: running("sleep 600") });
  const pid = await pidOf(r, "3");
  await r.agent.close();
  const other = await rig({ options: { stateFile: path } });
  await found(() => !alive(pid));
  expect(other.server.hellos.at(-1)?.attempts).toEqual([]);
  await other.close();
  await r.start();
  await r.close();
});

test("a malformed state file is replaced, and attempts are recovered from their folders", async () => {
  const r = await rig({ options: { killWorkloadsOnExit: false, stateFile: path } });
  r.server.run({ allocationId: "4", entrypoint: running("while [ ! -e go ]; do sleep 0.05; done") });
  const pid = await pidOf(r, "4");
  await r.agent.close();
  writeFileSync(path, '{"version": 1, "node"');
  await r.start();
  expect(alive(pid)).toBe(true);
  await found(() => readFileSync(path, "utf8").endsWith("}\n") && state().attempts.length === 1);
  writeFileSync(join(r.dataDir, "attempts", "4.1", "go"), "");
  await r.server.end("4");
  await r.close();
});

test("a state file of another node or of a running agent is refused", async () => {
  writeFileSync(path, JSON.stringify({ version: 1, node: "n9", boot_id: "x", attempts: [] }));
  const start = (name: string, stateFile: string) =>
    startAgent(agentOptions("127.0.0.1:1", join(folder, name), { stateFile }), {
      log: pino({ level: "silent" }),
      version: "test",
    });
  await expect(start("a", path)).rejects.toThrow("is that of node n9, not of n1");
  const used = join(folder, "used.json");
  const r = await rig({ options: { stateFile: used } });
  await expect(start("b", used)).rejects.toThrow(`another agent is using the state file ${used}`);
  await r.close();
});

test("after a reboot, and for attempts with a directory, there are no strays", () => {
  const entry = {
    attempt: "5.1",
    pid: 1,
    uid: null,
    wrapper: "w",
    cgroup: "",
    runtime: "process",
    mounts: [],
    container: null,
  };
  const dir = join(folder, "attempts", "5.1");
  const before = { version: 1, node: "n1", boot_id: "b1", data_dir: folder, isolation: "cgroup2" } as const;
  const stored: AgentState = { ...before, attempts: [{ ...entry, runtime: "process", dir }] };
  expect(straysIn(stored, { bootId: "b2", dataDir: folder })).toEqual([]);
  expect(straysIn(stored, { bootId: "b1", dataDir: folder })).toHaveLength(1);
  expect(straysIn(stored, { bootId: "b1", dataDir: "/elsewhere" })).toHaveLength(1);
  expect(straysIn(null, { bootId: "b1", dataDir: folder })).toEqual([]);
});
