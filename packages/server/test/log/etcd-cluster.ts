// Real etcd processes for tests: one member or several on loopback ports, each with its own
// directory, ended by pid.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEtcdClient } from "../../src/log/etcd/client/client.ts";
import { temporaryDir } from "./temporary-dir.ts";

/** A loopback address of this process alone: no other process uses its ports. */
export const HOST = `127.${100 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const READY_MS = 120_000;

export interface TestMember {
  readonly name: string;
  readonly endpoint: string;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Again, with what is in its directory. */
  start(): void;
  pid(): number;
}

export interface TestCluster {
  readonly endpoints: readonly string[];
  readonly members: readonly TestMember[];
  /** The member that leads etcd. */
  leader(): Promise<TestMember>;
  stop(): Promise<void>;
}

export async function startEtcd(count: number, more: readonly string[] = []): Promise<TestCluster> {
  const dir = await temporaryDir();
  const ports = await freePorts(count * 2);
  const plan = Array.from({ length: count }, (_, n) => ({
    name: `m${n + 1}`,
    client: `http://${HOST}:${ports[2 * n]}`,
    peer: `http://${HOST}:${ports[2 * n + 1]}`,
  }));
  const cluster = plan.map(({ name, peer }) => `${name}=${peer}`).join(",");
  const members = await Promise.all(
    plan.map(async ({ name, client, peer }) => {
      await mkdir(join(dir, name), { mode: 0o700 });
      return startMember(client, [
        ...["--name", name, "--data-dir", join(dir, name)],
        ...["--listen-client-urls", client, "--advertise-client-urls", client],
        ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
        ...["--initial-cluster", cluster, "--logger", "zap", "--log-level", "fatal"],
        ...more,
      ]);
    }),
  );
  const endpoints = members.map((member) => member.endpoint);
  await healthy(endpoints);
  return {
    endpoints,
    members,
    async leader() {
      const client = createEtcdClient({ endpoints, tls: null });
      try {
        const { leader } = await client.status();
        const name = (await client.memberList()).find((member) => member.id === leader)?.name;
        const found = members.find((member) => member.name === name);
        if (found === undefined) throw new Error("etcd has no leader");
        return found;
      } finally {
        client.close();
      }
    },
    async stop() {
      await Promise.all(members.map((member) => member.kill("SIGKILL")));
      await rm(dir, { recursive: true, force: true, maxRetries: 9 });
    },
  };
}

function startMember(endpoint: string, args: readonly string[]): TestMember {
  let child: ChildProcess;
  let exited: Promise<void>;
  const start = (): void => {
    child = spawn("etcd", args, { stdio: ["ignore", "ignore", "inherit"] });
    exited = new Promise((resolve) => child.once("close", () => resolve()));
  };
  start();
  return {
    name: args[1] ?? "",
    endpoint,
    start,
    pid: () => child.pid ?? 0,
    async kill(signal) {
      child.kill(signal);
      if (signal === "SIGKILL" || signal === "SIGTERM") await exited;
      // A signal in delivery still takes a moment.
      while (signal === "SIGSTOP" && !standsStill(child.pid ?? 0)) await sleep(1);
    },
  };
}

function standsStill(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.every((id) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/task/${id}/status`, "utf8")));
  } catch {
    // A thread has ended meanwhile.
    return false;
  }
}

/** Resolves when each of them answers and follows a leader. */
export async function healthy(endpoints: readonly string[]): Promise<void> {
  const until = performance.now() + READY_MS;
  for (const endpoint of endpoints) {
    const client = createEtcdClient({ endpoints: [endpoint], tls: null });
    for (;;) {
      const status = await client.status(500).catch(() => null);
      if (status !== null && status.leader !== 0n) break;
      if (performance.now() > until) throw new Error(`etcd at ${endpoint} did not start`);
      await sleep(20);
    }
    client.close();
  }
}

/** Free at this moment, on an address that no other process uses. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
