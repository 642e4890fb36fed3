// The cluster under test: three servers with an etcd member each, and eight agents, each on its own machine. It starts
// and ends programs and knows their process ids; it decides nothing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { isAlive, kill, processesIn } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { type Answer, type Json, request } from "../harness/rest.ts";
import { type MemberFiles, makeMemberFiles } from "./environment/certificates.ts";
import { createClock, type ProgramClock } from "./environment/clock.ts";
import { createDisk, type Disk, removeDisk } from "./environment/disk.ts";
import { presentCertificates } from "./environment/etcd.ts";
import { createNetwork, type Machine, type Network } from "./environment/network.ts";
import { copyPrograms, type Programs } from "./environment/programs.ts";

export const SERVERS = 3;
export const NODES = 8;
/** Long enough that a busy machine does not silence its agents, short enough to wait for. */
export const SILENCE_MS = { interval: 1_000, timeout: 5_000, grace: 3_000 } as const;
/** Small, so that a run of minutes takes several snapshots and truncates the log. */
const SNAPSHOT_EVERY = 150;
/** Small as well: most finished work is read from the history, which every server must have. */
const FINISHED_KEPT = 150;
/** Twice the default: some thirty programs may share two cores here, and a starved leader must not lose its lease. */
const LEASE_SECONDS = 4;
export const PREFIX = "/lattice/main";

export interface ChaosCluster {
  readonly dir: string;
  readonly network: Network;
  /** By number, from 1. */
  server(n: number): ChaosServer;
  node(name: string): ChaosNode;
  readonly servers: readonly ChaosServer[];
  readonly nodes: readonly ChaosNode[];
  api<T = Json>(n: number, method: string, path: string, body?: unknown, withinMs?: number): Promise<Answer<T>>;
  /** The number of the server that reports itself as leader. */
  leader(): Promise<number>;
  close(): Promise<void>;
}

export interface ChaosServer {
  readonly n: number;
  readonly machine: Machine;
  readonly disk: Disk;
  readonly clock: ProgramClock;
  readonly url: string;
  readonly logFile: string;
  readonly pid: number;
  /** Of its etcd member; 0 when there is none. */
  memberPid(): number;
  /** The folder of that member's data. */
  readonly memberData: string;
  start(how?: readonly string[]): void;
  stop(): Promise<number>;
  kill(): Promise<void>;
  /** The exit code of the run that was started last. */
  end(): Promise<number>;
  isRunning(): boolean;
}

export interface ChaosNode {
  readonly name: string;
  readonly machine: Machine;
  readonly clock: ProgramClock;
  readonly pid: number;
  start(): void;
  kill(): Promise<void>;
}

export interface ChaosClusterOptions {
  readonly dir: string;
  /** For clock jumps; `null` when there are none. */
  readonly clockLibrary: string | null;
}

export async function createChaosCluster({ dir, clockLibrary }: ChaosClusterOptions): Promise<ChaosCluster> {
  for (const folder of ["disks", "clocks", "logs", "agents"]) mkdirSync(join(dir, folder), { recursive: true });
  const programs = copyPrograms(join(dir, "programs"));
  const network = await createNetwork({ servers: SERVERS, nodes: NODES });
  const hosts = network.servers.map(({ address }) => address);
  const certificates = await makeMemberFiles(join(dir, "pki"), hosts, clockLibrary);
  presentCertificates(certificates);
  const clockOf = (name: string) => createClock(join(dir, "clocks", name), clockLibrary);
  const servers: ChaosServer[] = [];
  for (const [at, machine] of network.servers.entries()) {
    const disk = await createDisk(join(dir, "disks"), machine.name);
    servers.push(serverOn({ n: at + 1, dir, machine, disk, clock: clockOf(machine.name), programs, certificates }));
  }
  const addresses = network.servers.map(({ address }) => `${address}:50051`);
  const nodes = network.nodes.map((machine, at) => {
    // Each starts with another server, so that some connect to followers.
    const order = addresses.map((_, k) => addresses[(at + k) % addresses.length] ?? "");
    return nodeOn({ name: `chaos-${at + 1}`, dir, machine, clock: clockOf(machine.name), programs, servers: order });
  });
  const server = (n: number): ChaosServer => found(servers[n - 1], `server ${n}`);
  return {
    dir,
    network,
    servers,
    nodes,
    server,
    node: (name) =>
      found(
        nodes.find((node) => node.name === name),
        name,
      ),
    api: (n, method, path, body, withinMs = 5_000) =>
      request(server(n).url, method, path === "/readyz" ? path : `/api/v1${path}`, {
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(withinMs),
      }),
    leader: () => leaderOf(servers),
    async close() {
      for (const node of nodes) await node.kill();
      for (const each of servers) {
        await each.kill();
        const member = each.memberPid();
        if (member > 0) kill(member, "SIGKILL");
      }
      for (const { disk } of servers) {
        await disk.fast().catch(() => undefined);
        await removeDisk(disk.path);
      }
    },
  };
}

interface ServerParts {
  readonly n: number;
  readonly dir: string;
  readonly machine: Machine;
  readonly disk: Disk;
  readonly clock: ProgramClock;
  readonly programs: Programs;
  readonly certificates: MemberFiles;
}

function serverOn({ n, dir, machine, disk, clock, programs, certificates }: ServerParts): ChaosServer {
  const config = join(dir, `server-${n}.yaml`);
  const logFile = join(dir, "logs", `server-${n}.log`);
  const dataDir = join(disk.path, "data");
  const memberData = join(dataDir, "log", "etcd", "data");
  let program: Program | null = null;
  writeFileSync(config, configOf(n, machine.address, dataDir, certificates));
  return {
    n,
    machine,
    disk,
    clock,
    logFile,
    url: `http://${machine.address}:8080`,
    get pid() {
      return program?.pid ?? 0;
    },
    memberPid: () => memberIn(memberData),
    memberData,
    start(how = []) {
      const args = ["--config", config, ...how];
      const { environment: env } = clock;
      program = startProgram("lattice-server", { args, logFile, env, prefix: machine.enter, path: programs.server });
    },
    stop: async () => (await program?.stop()) ?? 0,
    kill: async () => await program?.kill(),
    end: async () => (await program?.ended) ?? 0,
    isRunning: () => program?.isRunning() ?? false,
  };
}

interface NodeParts {
  readonly name: string;
  readonly dir: string;
  readonly machine: Machine;
  readonly clock: ProgramClock;
  readonly programs: Programs;
  readonly servers: readonly string[];
}

function nodeOn({ name, dir, machine, clock, programs, servers }: NodeParts): ChaosNode {
  let program: Program | null = null;
  const dataDir = join(dir, "agents", name);
  return {
    name,
    machine,
    clock,
    get pid() {
      return program?.pid ?? 0;
    },
    start() {
      program = startProgram("lattice-agent", {
        args: ["--node-id", name, "--data-dir", dataDir, ...servers.flatMap((address) => ["--server", address])],
        logFile: join(dir, "logs", `${name}.log`),
        env: clock.environment,
        prefix: machine.enter,
        path: programs.agent,
      });
    },
    kill: async () => await program?.kill(),
  };
}

const configOf = (n: number, address: string, dataDir: string, tls: MemberFiles): string => `
server: { id: server-${n}, data_dir: ${dataDir} }
quorum:
  engine: etcd
  node_id: ${n}
  snapshot_every_entries: ${SNAPSHOT_EVERY}
  etcd:
    managed: true
    lease_seconds: ${LEASE_SECONDS}
    client_listen: 127.0.0.1:2379
    peer_address: ${address}:9000
    tls: { ca: ${tls.ca}, cert: ${tls.cert}, key: ${tls.key} }
api: { rest_listen: "${address}:8080", grpc_listen: "${address}:50051", allow_unauthenticated: true }
node_agent:
  heartbeat_interval: ${SILENCE_MS.interval}ms
  heartbeat_timeout: ${SILENCE_MS.timeout}ms
  grace_period: ${SILENCE_MS.grace}ms
retention: { max_finished: ${FINISHED_KEPT} }
`;

async function leaderOf(servers: readonly ChaosServer[]): Promise<number> {
  return await eventually({ what: "a server leads", withinMs: 30_000, everyMs: 100 }, async () => {
    const answers = servers.map(async ({ n, url, isRunning }) => {
      if (!isRunning()) return null;
      const signal = AbortSignal.timeout(1_000);
      const answer = await request<{ is_leader?: boolean }>(url, "GET", "/healthz", { signal }).catch(() => null);
      return answer?.body.is_leader === true ? n : null;
    });
    return (await Promise.all(answers)).find((n) => n !== null) ?? null;
  });
}

/** The pid file may be missing after a full disk, so the process is found by its command line. */
function memberIn(folder: string): number {
  return processesIn(folder).find((pid) => argumentsOf(pid).includes(folder) && isAlive(pid)) ?? 0;
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value;
}
