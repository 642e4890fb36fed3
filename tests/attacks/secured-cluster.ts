// A cluster as the documentation sets it up: tokens required, agents as root with the accounts of the machine, folders
// for output and stored logs. Attackers have a valid token of an ordinary user and nothing else.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { CliResult } from "../harness/cli.ts";
import { Cluster } from "../harness/cluster.ts";
import { eventually } from "../harness/eventually.ts";
import { kill } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import type { AllocationJson, Json } from "../harness/rest.ts";
import type { Account } from "./accounts.ts";

/** In the agent's environment, as /etc/lattice/agent.env puts it there. */
export const STORE_KEY = "key-of-the-output-store";

interface SecuredOptions {
  readonly nodes?: number;
  readonly agentArgs?: readonly string[];
  /** Words before the command of the agent. */
  readonly agentPrefix?: readonly string[];
  /** Further fields of its section `api`. */
  readonly api?: string;
  /** Further lines of the server's configuration file. */
  readonly config?: string;
  readonly serverArgs?: readonly string[];
}

export interface SecuredCluster {
  readonly cluster: Cluster;
  /** A folder of root's that everybody may read: what attacks must not change. */
  readonly victim: string;
  readonly outputDir: string;
  agent(node?: string): Program;
  restartAgent(node?: string): Promise<void>;
  /** Runs a command of the CLI as this user. */
  as(user: Account | string, args: readonly string[], flags?: readonly string[]): Promise<CliResult>;
  submit(user: Account, body: Json): Promise<string>;
  ends(id: string): Promise<AllocationJson>;
  reaches(id: string, states: readonly string[]): Promise<AllocationJson>;
  logs(user: Account, id: string): Promise<string>;
  token(...flags: string[]): Promise<string>;
}

export function useSecuredCluster({
  nodes = 1,
  agentArgs = [],
  agentPrefix = [],
  api = "",
  config = "",
  serverArgs = [],
}: SecuredOptions = {}): SecuredCluster {
  // Not below /tmp, which attempts do not share with the node.
  const folder = mkdtempSync("/var/tmp/lattice-attack-");
  const [secretFile, outputDir, storeDir, victim] = ["secret", "output", "store", "victim"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  writeFileSync(secretFile, "this secret is long enough for the hash it keys\n", { mode: 0o600 });
  const cluster = new Cluster({
    nodes: 0,
    serverArgs,
    config: `api: { oidc_hmac_secret: "file://${secretFile}"${api === "" ? "" : `, ${api}`} }\n${config}`,
  });
  const names = Array.from({ length: nodes }, (_, n) => `n${n + 1}`);
  const agents = new Map<string, Program>();
  const tokens = new Map<string, string>();

  async function token(...flags: string[]): Promise<string> {
    const words = ["admin", "token", "create", "--secret-file", secretFile, ...flags];
    const { code, stdout, stderr } = await cluster.cli(words);
    expect(code, stderr).toBe(0);
    return stdout.trim();
  }

  async function tokenOf(name: string): Promise<string> {
    const known = tokens.get(name) ?? (await token("--user", name, "--tenant", "default"));
    tokens.set(name, known);
    return known;
  }

  async function startAgent(node: string): Promise<void> {
    agents.set(
      node,
      startProgram("lattice-agent", {
        prefix: agentPrefix,
        args: [
          ...["--node-id", node, "--server", cluster.grpcAddress, "--data-dir", join(cluster.dir, `agent-${node}`)],
          ...[
            "--user-mapping",
            "passwd",
            "--metrics-listen",
            "none",
            "--output-dir",
            outputDir,
            "--log-store",
            storeDir,
            ...agentArgs,
          ],
        ],
        logFile: join(cluster.dir, `agent-${node}.log`),
        env: {
          LATTICE_AGENT_TOKEN: await token("--user", node, "--scope", "agent"),
          AWS_SECRET_ACCESS_KEY: STORE_KEY,
          LATTICE_AGENT_USER_MAPPING: "passwd",
        },
      }),
    );
  }

  const asAdmin = async (): Promise<Record<string, string>> => ({
    authorization: `Bearer ${await token("--user", "root", "--scope", "admin")}`,
  });

  async function ready(): Promise<void> {
    const headers = await asAdmin();
    await eventually({ what: "the nodes are ready" }, async () => {
      const { body } = await cluster.api<{ nodes?: { state: string; connected?: boolean }[] }>("GET", "/nodes", {
        headers,
      });
      return (body.nodes ?? []).filter((one) => one.state === "ready" && one.connected).length === nodes ? true : null;
    });
  }

  async function reaches(id: string, states: readonly string[]): Promise<AllocationJson> {
    const headers = await asAdmin();
    return await eventually({ what: `allocation ${id} becomes ${states.join(" or ")}` }, async () => {
      const { body } = await cluster.api<AllocationJson>("GET", `/allocations/${id}`, { headers });
      return states.includes(body.state) ? body : null;
    });
  }

  beforeAll(async () => {
    // A site's folders are reachable for everybody; only what is in them is protected.
    for (const path of [folder, cluster.dir]) chmodSync(path, 0o711);
    for (const path of [outputDir, victim]) mkdirSync(path, { mode: 0o755 });
    mkdirSync(storeDir, { mode: 0o750 });
    writeFileSync(join(victim, "precious"), "precious\n");
    try {
      await cluster.startServer();
      for (const node of names) await startAgent(node);
      await ready();
    } catch (error) {
      cluster.printLogs();
      throw error;
    }
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") cluster.printLogs();
  });
  afterAll(async () => {
    for (const agent of agents.values()) if (agent.isRunning()) kill(agent.pid, "SIGKILL");
    await cluster.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  });

  return {
    cluster,
    victim,
    outputDir,
    agent: (node = "n1") => agents.get(node) as Program,
    async restartAgent(node = "n1") {
      const agent = agents.get(node);
      if (agent?.isRunning() === true) await agent.kill();
      await startAgent(node);
      await ready();
    },
    async as(user, args, flags) {
      const own = typeof user === "string" ? user : user.name;
      const shown = flags === undefined ? await tokenOf(own) : await token("--user", own, ...flags);
      return cluster.cli(args, { env: { LATTICE_TOKEN: shown } });
    },
    async submit(user, body) {
      const headers = { authorization: `Bearer ${await tokenOf(user.name)}` };
      return cluster.submit({ tenant: "default", walltime: "5m", workdir: "/tmp", ...body }, { headers });
    },
    reaches,
    ends: (id) => reaches(id, ["completed", "failed", "cancelled"]),
    async logs(user, id) {
      const { stdout } = await cluster.cli(["logs", id], { env: { LATTICE_TOKEN: await tokenOf(user.name) } });
      return stdout;
    },
    token,
  };
}
