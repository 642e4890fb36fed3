// Starts and stops the processes of a local cluster: first the server, then the agents, and in reverse order at the end,
// so that agents can report how their allocations ended.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { createClient, type LatticeClient, sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { startSpinner } from "../../output/spinner.ts";
import { type Child, keepRunning } from "./child.ts";
import { type ClusterDescription, claimDataDir, writeClusterFile } from "./cluster-file.ts";
import { startGuard } from "./guard.ts";
import { type DataDirLayout, groupOf, nodeNames, prepareLayout, programPath } from "./layout.ts";
import { canIdentifyUsers, openLocalUsers, serveLocalUsers } from "./local-users.ts";
import { makeDirectories } from "./make-directories.ts";
import { USERS_NOTE } from "./messages.ts";
import { chooseNodeCount } from "./node-count.ts";
import { requireFreePorts } from "./ports.ts";
import { type Addresses, readyLine } from "./ready-line.ts";

interface ClusterOptions {
  /** Default: as many as the data directory had, or DEFAULT_NODES. */
  readonly nodes?: number | undefined;
  readonly dataDir?: string | undefined;
  readonly port: number;
  readonly grpcPort: number;
  readonly user: string;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

export interface Cluster {
  readonly url: string;
  readonly client: LatticeClient;
  readonly description: ClusterDescription;
  /** Resolves with the data directory, or null when it was temporary. */
  stop(): Promise<string | null>;
}

const SERVER_READY_MS = 30_000;
const NODES_READY_MS = 30_000;
const AGENT_STOP_MS = 15_000;
const SERVER_STOP_MS = 10_000;
const POLL_MS = 25;

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const serverProgram = programPath("lattice-server");
  const agentProgram = programPath("lattice-agent");
  const layout = prepareLayout(options.dataDir);
  const release = await claimDataDir(layout, options.note);
  let dismissGuard = async () => {};
  let stopUsers = () => {};
  const children: Child[] = [];
  const stop = async () => {
    stopUsers();
    const kept = await stopChildren(children, layout);
    await dismissGuard();
    await release();
    return kept;
  };
  try {
    // After claiming the directory, because orphans of an earlier cluster may have held the ports.
    await requireFreePorts(options);
    if (layout.temporary) dismissGuard = startGuard(layout.dataDir);
    const onStop = (stopServing: () => void) => {
      stopUsers = stopServing;
    };
    return await bringUp(options, layout, { serverProgram, agentProgram, children, stop, onStop });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Parts {
  readonly serverProgram: string;
  readonly agentProgram: string;
  /** The server comes first. */
  readonly children: Child[];
  readonly stop: () => Promise<string | null>;
  /** Called first when the cluster stops. */
  readonly onStop: (stop: () => void) => void;
}

/** A cluster of an ordinary user runs all jobs as that user. */
const AS_THIS_USER = ["--user-mapping", "none"];
/** A cluster of root runs each job as its submitter. Its users share /tmp, as in any login of this machine. */
const AS_CALLERS = ["--user-mapping", "passwd", "--root-jobs", "--private-tmp", "no"];
const UP_TOKEN_S = 365 * 86_400;

function isRoot(): boolean {
  if (process.getuid?.() !== 0) return false;
  if (canIdentifyUsers()) return true;
  throw new ProblemError("internal", {
    detail: "lattice-peer is not built; a cluster of root needs it to identify its users",
    hint: "Install gcc and libc6-dev and run: npm run build; or start the cluster as an ordinary user.",
  });
}

async function bringUp(options: ClusterOptions, layout: DataDirLayout, parts: Parts): Promise<Cluster> {
  const { note, signal } = options;
  const names = nodeNames(chooseNodeCount(layout, options.nodes));
  const pids: Record<string, number> = {};
  let addresses: Addresses = { rest: `127.0.0.1:${options.port}`, grpc: `127.0.0.1:${options.grpcPort}` };
  const describe = (): ClusterDescription => ({
    url: `http://${addresses.rest}`,
    grpc: addresses.grpc,
    data_dir: layout.dataDir,
    nodes: names,
    pid: process.pid,
    pids: { ...pids },
  });
  const users = isRoot() ? openLocalUsers(layout.dataDir) : null;
  const start = (name: string, program: string, args: () => readonly string[], env?: NodeJS.ProcessEnv) => {
    const onStart = (pid: number) => {
      pids[name] = pid;
      writeClusterFile(layout, describe());
    };
    const logFile = join(layout.logsDir, `${name}.log`);
    const child = keepRunning({ name, program, args, env, logFile, note, onStart });
    parts.children.push(child);
    return child;
  };

  const spinner = startSpinner(`Starting the server and ${nodesText(names)}`);
  try {
    const serverArgs = () => [
      ...["--data-dir", layout.serverDir],
      ...["--rest-listen", addresses.rest, "--grpc-listen", addresses.grpc],
    ];
    const signing = users === null ? undefined : { LATTICE_OIDC_HMAC_SECRET: users.secret };
    const server = start("lattice-server", parts.serverProgram, serverArgs, signing);
    addresses = await readyLine(server, SERVER_READY_MS, signal);
    if (users !== null) {
      const port = new URL(`http://${addresses.rest}`).port;
      parts.onStop(await serveLocalUsers(users, port, () => server.running()));
    }
    names.forEach((name, position) => {
      makeDirectories(layout.nodeDir(name));
      const agentArgs = () => [
        ...["--node-id", name, "--server", addresses.grpc, "--data-dir", layout.nodeDir(name)],
        // All agents share the ports of this machine.
        ...["--metrics-listen", "none"],
        ...["--group", groupOf(position), "--output-dir", layout.outputDir],
        ...(users === null ? AS_THIS_USER : AS_CALLERS),
        ...(layout.temporary ? ["--kill-workloads-on-exit"] : []),
      ];
      const token = users === null ? undefined : { LATTICE_AGENT_TOKEN: users.agentToken(name) };
      start(name, parts.agentProgram, agentArgs, token);
    });
    const client = createClient({
      url: `http://${addresses.rest}`,
      user: options.user,
      ...(users === null ? {} : { token: users.tokenOf("root", "admin", UP_TOKEN_S) }),
    });
    await nodesReady(client, names, signal);
    const { url, grpc } = describe();
    spinner.stop();
    note(`Lattice is up: ${url} (gRPC ${grpc}), ${nodesText(names)}, data in ${layout.dataDir}`);
    if (users !== null) note(USERS_NOTE);
    if (layout.temporary) note("The data is temporary and removed at the end; keep it with --data-dir DIR.");
    return { url, client, description: describe(), stop: parts.stop };
  } finally {
    spinner.stop();
  }
}

const nodesText = ({ length }: readonly string[]): string => (length === 1 ? "1 node" : `${length} nodes`);

async function nodesReady(client: LatticeClient, names: readonly string[], signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  for (;;) {
    const { nodes = [] } = await client.nodes.list({ page_size: 1000 }, { signal });
    // Connected, not ready: a node that was drained in an earlier run stays drained.
    const missing = names.filter((name) => !nodes.some((node) => node.id === name && node.connected === true));
    if (missing.length === 0) return;
    if (Date.now() - startedAt > NODES_READY_MS) {
      throw new ProblemError("deadline_exceeded", {
        detail: `not connected after ${NODES_READY_MS / 1000} s: ${missing.join(", ")}`,
        hint: "Check the logs of the agents; start with --data-dir DIR to keep them.",
      });
    }
    await sleep(POLL_MS, signal);
  }
}

async function stopChildren(children: readonly Child[], layout: DataDirLayout): Promise<string | null> {
  const [server, ...agents] = children;
  await Promise.all(agents.map((agent) => agent.stop(AGENT_STOP_MS)));
  await server?.stop(SERVER_STOP_MS);
  if (layout.temporary) {
    rmSync(layout.dataDir, { recursive: true, force: true });
    return null;
  }
  rmSync(layout.clusterFile, { force: true });
  return layout.dataDir;
}
