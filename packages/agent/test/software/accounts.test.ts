// Which accounts may run jobs, and which clusters an agent with accounts may serve.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { takeSecrets } from "../../src/agent/secrets.ts";
import { unfitCluster } from "../../src/agent/unfit-cluster.ts";
import { checkAccount, checkName, parseId } from "../../src/host/user/check-account.ts";
import { resolveUser } from "../../src/host/user/user.ts";
import { rememberUsers } from "../../src/host/user/users.ts";
import { startAgent } from "../../src/index.ts";
import { fakeServer } from "../fake-server.ts";
import { agentOptions } from "../rig.ts";
import { DEFAULT_SOFTWARE } from "../software-options.ts";

const ada = { name: "ada", uid: 4001, gid: 100, groups: [100, 27] };

test("an ordinary account with a system group such as `users` is accepted", () => {
  expect(() => checkAccount(ada, "ada", 1_000)).not.toThrow();
});

test.each([
  ["another name", { name: "Ada" }, /knows that account as "Ada"/],
  ["uid 0", { uid: 0 }, /account of root \(uid 0\)/],
  ["gid 0", { gid: 0 }, /group of root/],
  ["group 0", { groups: [100, 0] }, /group of root/],
  ["a system uid", { uid: 999 }, /system account \(uid 999, below --min-uid 1000\)/],
  ["the uid of nobody", { uid: 65_534 }, /uid 65534 is reserved/],
  ["the uid -1", { uid: 4_294_967_295 }, /uid 4294967295 is reserved/],
])("an account with %s is refused", (_what, change, why) => {
  expect(() => checkAccount({ ...ada, ...change }, "ada", 1_000)).toThrow(why);
});

test("numbers and root are refused as names", () => {
  expect(() => checkName("0")).toThrow("it is a number, not a name");
  expect(() => checkName("4294967295")).toThrow("it is a number");
  expect(() => checkName("root")).toThrow("never run as root");
  expect(() => checkName("ada0")).not.toThrow();
});

test.each(["", "x", "-1", "1e3", "0x10", "1.5", "4294967296", "99999999999", " 1"])("%j is not an id", (text) => {
  expect(parseId(text)).toBeNull();
});

describe("a file mapping", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "lattice-accounts-"));
    const lines = ["ada 4001 4000 27", "zero 0 0", "sys 998 998", "minus -1 4000", "half 4001", "odd 4001 4000 x"];
    writeFileSync(join(folder, "map"), `${lines.join("\n")}\n`);
  });
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 9 }));
  const find = (name: string) =>
    resolveUser({ mapping: { kind: "file", path: join(folder, "map") }, minUid: 1_000 }, name);

  test("accepts whole lines of ordinary accounts alone", async () => {
    expect(await find("ada")).toMatchObject({ uid: 4001, gid: 4000, groups: [4000, 27] });
    await expect(find("zero")).rejects.toThrow("account of root");
    await expect(find("sys")).rejects.toThrow("system account");
    for (const name of ["minus", "half", "odd"]) await expect(find(name)).rejects.toThrow("no uid and gid");
  });

  test("refusals are counted by reason", async () => {
    const users = rememberUsers(() => 0, { minUid: 1_000 });
    const mapping = { kind: "file", path: join(folder, "map") } as const;
    for (const name of ["0", "root", "zero", "sys"]) await users.find(mapping, name).catch(() => undefined);
    await expect(users.find(mapping, "eve")).rejects.toThrow("missing uid");
    expect(Object.fromEntries(users.refused())).toEqual({ number: 1, root: 2, system: 1 });
  });
});

test.each(["root", "0", "4294967295", "daemon", "nobody"])("the node's account %j is refused", async (name) => {
  const found = resolveUser({ mapping: { kind: "passwd" }, minUid: 1_000 }, name);
  await expect(found).rejects.toThrow("must not run jobs on this node");
});

test("a cluster without authentication is unfit for an agent with a mapping, unless it allows that", () => {
  const how = { userMapping: { kind: "passwd" }, allowUnauthenticated: false } as const;
  expect(unfitCluster(how, { callersAuthenticated: true })).toBeNull();
  expect(unfitCluster(how, { callersAuthenticated: false })).toContain("--allow-unauthenticated");
  expect(unfitCluster({ ...how, allowUnauthenticated: true }, { callersAuthenticated: false })).toBeNull();
  expect(unfitCluster({ ...how, userMapping: { kind: "none" } }, { callersAuthenticated: false })).toBeNull();
});

test("an agent with a mapping takes no order of a cluster without authentication, and does not join it", async () => {
  const server = await fakeServer();
  Object.assign(server.settings, { authenticated: false, cluster: "a".repeat(32) });
  const dataDir = mkdtempSync(join(tmpdir(), "lattice-agent-test-"));
  const software = { ...DEFAULT_SOFTWARE, userMapping: { kind: "passwd" } as const };
  const agent = await startAgent(agentOptions(server.address, dataDir, { software }), {
    log: pino({ level: "silent" }),
    version: "test",
  });
  expect(await agent.failed).toContain("does not authenticate its users");
  expect(agent.connected()).toBe(0);
  server.run({ allocationId: "1", user: "daemon", entrypoint: "true" });
  await agent.close();
  expect(server.reports).toEqual([]);
  expect(readdirSync(dataDir)).not.toContain("cluster.json");
  await server.close();
  rmSync(dataDir, { recursive: true, maxRetries: 20 });
});

test("secrets are taken out of the environment, and nothing else is", () => {
  const environment = { LATTICE_AGENT_TOKEN: "t", AWS_SECRET_ACCESS_KEY: "k", PATH: "/bin" };
  expect(takeSecrets(environment)).toMatchObject({ AWS_SECRET_ACCESS_KEY: "k" });
  expect(environment).toEqual({ PATH: "/bin" });
});
