// Gateways of a real namespace: over IPv4 and IPv6, and restarted after their process is killed.

import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepNetworks } from "../../src/network/keep.ts";
import { linuxDriver } from "../../src/network/linux.ts";

const run = promisify(execFile);
/** Numbers and addresses that no other test of this machine has. */
const VNI = 6_000_000 + (process.pid % 1_000_000);
const HOST = `fd00:213:${(process.pid % 65_536).toString(16)}::1`;
const [PORT, OWN_PORT] = [18_451, 20_000 + (process.pid % 10_000)];
const NAMESPACE = `/run/netns/lattice-${VNI}`;
const usersDir = mkdtempSync(join(tmpdir(), "lattice-ways-"));
const driver = linuxDriver({ nodeId: "n1", dataDir: "/data/one", uplink: "", usersDir });
const gateway = `[${HOST}]:${PORT}`;
const place = {
  key: "7.1",
  network: create(pb.RunNetworkSchema, {
    ...{ domain: "d", vni: VNI, sensitive: true, dataGateway: gateway, exposed: [OWN_PORT] },
  }),
  nodes: ["n1"],
};
let server: Server;
let inside: ChildProcess | null = null;

beforeAll(async () => {
  // The gateway process has dropped its privileges and checks whether its file still exists.
  chmodSync(usersDir, 0o755);
  // Without duplicate address detection, during which no process can listen.
  execFileSync("ip", ["addr", "add", `${HOST}/128`, "dev", "lo", "nodad"]);
  server = createServer((_, answer) => answer.end("data"));
  await new Promise<void>((resolve) => server.listen(PORT, HOST, resolve));
});
afterAll(async () => {
  inside?.kill("SIGKILL");
  server.close();
  await driver.leave("7.1");
  execFileSync("ip", ["addr", "del", `${HOST}/128`, "dev", "lo"]);
  rmSync(usersDir, { recursive: true, force: true, maxRetries: 9 });
});

const ASK = `fetch(process.argv[1], { signal: AbortSignal.timeout(60000) }).then((r) => r.text(), () => "cut off").then(console.log)`;
const askInside = async (url: string): Promise<string> =>
  (await run("nsenter", [`--net=${NAMESPACE}`, process.execPath, "-e", ASK, url])).stdout.trim();
const askHere = (url: string): Promise<string> =>
  fetch(url).then(
    (answer) => answer.text(),
    () => "cut off",
  );

/** Processes that pass things on for this namespace. */
const passers = (): readonly number[] =>
  execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("lattice-gateway.js") && line.includes(String(VNI)))
    .map((line) => Number.parseInt(line, 10));

test("gateways work in both directions, are restarted when killed, and end with the attempt", async () => {
  await driver.join(place);
  expect(await askInside(`http://${gateway}/`)).toBe("data");
  expect(await askInside("http://[::1]:18451/")).toBe("cut off");
  const serve = `require("http").createServer((q, r) => r.end("service")).listen(${OWN_PORT}, "::1", () => console.log("up"))`;
  const own = spawn("nsenter", [`--net=${NAMESPACE}`, process.execPath, "-e", serve]);
  inside = own;
  await new Promise((resolve) => own.stdout.once("data", resolve));
  expect(await askHere(`http://127.0.0.1:${OWN_PORT}/`)).toBe("service");
  expect(await driver.keep(place)).toEqual([]);

  const before = passers();
  expect(before).toHaveLength(2);
  // Not the user of containers without an account, which could end them.
  for (const pid of before)
    expect(execFileSync("ps", ["-o", "uid=,gid=", "-p", String(pid)], { encoding: "utf8" })).toMatch(
      /^ *65533 +65533\n$/,
    );
  for (const pid of before) process.kill(pid, "SIGKILL");
  await expect.poll(() => passers()).toEqual([]);
  expect(await askInside(`http://${gateway}/`)).toBe("cut off");
  const turns: (() => void)[] = [];
  const stop = keepNetworks({
    driver,
    places: () => [place],
    after: (_, callback) => {
      turns.push(callback);
      return () => undefined;
    },
    log: pino({ level: "silent" }),
  });
  turns.shift()?.();
  await expect.poll(() => turns.length).toBe(1);
  stop();
  expect(passers()).toHaveLength(2);
  expect(await askInside(`http://${gateway}/`)).toBe("data");
  expect(await askHere(`http://127.0.0.1:${OWN_PORT}/`)).toBe("service");

  own.kill("SIGKILL");
  await driver.leave("7.1");
  expect(existsSync(NAMESPACE)).toBe(false);
  await expect.poll(() => passers()).toEqual([]);
});

test("a namespace left by a killed agent is removed by the next agent", async () => {
  const name = `lattice-${VNI + 2}`;
  execFileSync("ip", ["netns", "add", name]);
  mkdirSync(join(usersDir, String(VNI + 2)));
  await driver.sweep(new Set());
  expect(existsSync(`/run/netns/${name}`)).toBe(false);
  expect(existsSync(join(usersDir, String(VNI + 2)))).toBe(false);
});

test("an agent of another cluster with the same node name removes nothing", async () => {
  const vni = VNI + 3;
  const kept = `/run/netns/lattice-${vni}`;
  await driver.join({ key: "9.1", network: create(pb.RunNetworkSchema, { domain: "d", vni }), nodes: ["n1"] });
  const others = [
    linuxDriver({ nodeId: "n1", dataDir: "/data/two", uplink: "", usersDir }),
    linuxDriver({ nodeId: "n", dataDir: "/data/one", uplink: "", usersDir }),
  ];
  for (const other of others) {
    await other.sweep(new Set());
    await other.leave("9.1");
    expect(existsSync(kept)).toBe(true);
  }
  await driver.sweep(new Set(["9.1"]));
  expect(existsSync(kept)).toBe(true);
  await linuxDriver({ nodeId: "n1", dataDir: "/data/one", uplink: "", usersDir }).sweep(new Set());
  expect(existsSync(kept)).toBe(false);
});

test("an invalid address never reaches a script", async () => {
  const bad = { ...place, key: "8.1", network: { ...place.network, vni: VNI + 1, dataGateway: "1.2.3.4$(reboot):80" } };
  await expect(driver.join(bad)).rejects.toThrow("no address of a data gateway");
  expect(existsSync(`/run/netns/lattice-${VNI + 1}`)).toBe(false);
});
