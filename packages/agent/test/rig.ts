// A fake server and a real agent in this process, on a data folder of its own.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino, { type Logger } from "pino";
import type { Isolation } from "../src/host/isolation/isolation.ts";
import { type Agent, type AgentOptions, startAgent } from "../src/index.ts";
import { SHIP_LIMITS } from "../src/logs/ship/plan.ts";
import { DEFAULT_DISCOVERY } from "../src/options/discovery.ts";
import { type FakeServer, fakeServer, found } from "./fake-server.ts";
import { DEFAULT_SOFTWARE } from "./software-options.ts";

export interface Rig {
  readonly server: FakeServer;
  readonly dataDir: string;
  agent: Agent;
  /** Closes the agent without touching workloads and starts another on the same folder. */
  restart(): Promise<void>;
  start(): Promise<void>;
  file(allocation: string, name: string, attempt?: number): string;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly isolation?: Isolation["kind"];
  readonly options?: Partial<AgentOptions>;
  /** Instead of a fresh one. */
  readonly dataDir?: string;
  readonly log?: Logger;
}

export async function rig({ isolation, options, dataDir: given, log }: RigOptions = {}): Promise<Rig> {
  const server = await fakeServer();
  const dataDir = given ?? mkdtempSync(join(tmpdir(), "lattice-agent-test-"));
  const level = process.env.AGENT_TEST_LOG ?? "silent";
  const start = (): Promise<Agent> =>
    startAgent(agentOptions(server.address, dataDir, options), {
      log: log ?? pino({ level }),
      version: "test",
      ...(isolation === undefined ? {} : { isolation }),
    });
  const made: Rig = {
    server,
    dataDir,
    agent: await start(),
    async start() {
      made.agent = await start();
    },
    async restart() {
      await made.agent.close();
      await made.start();
    },
    file(allocation, name, attempt = 1) {
      for (const folder of ["attempts", "ended"]) {
        try {
          return readFileSync(join(dataDir, folder, `${allocation}.${attempt}`, name), "utf8");
        } catch {
          // Looked for in the other folder.
        }
      }
      return "";
    },
    async close() {
      await made.agent.close();
      await server.close();
      // The MPI helpers may still be under construction.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
  await found(() => made.agent.connected() === 1);
  return made;
}

export function agentOptions(server: string, dataDir: string, more: Partial<AgentOptions> = {}): AgentOptions {
  return {
    nodeId: "n1",
    group: "g1",
    homeVcluster: "",
    servers: [server],
    dataDir,
    stateFile: "",
    logLevel: "silent",
    peerListen: "",
    metrics: null,
    token: undefined,
    identity: { spireSocket: "", files: null, authority: null },
    secure: false,
    killWorkloadsOnExit: true,
    hardware: { features: [] },
    discovery: DEFAULT_DISCOVERY,
    maxPids: 0,
    logs: { store: null, group: null, mayBeOpen: false, limits: SHIP_LIMITS },
    software: DEFAULT_SOFTWARE,
    hollow: null,
    ...more,
  };
}

/** Whether a process with this text in its command line is alive. */
export function alive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}
