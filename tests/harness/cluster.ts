// A real cluster for a test or a bench: the built server and agents in a temporary directory, on free ports. Server and
// agents can be stopped, killed and restarted on the same data. `close` ends every process that mentions the directory,
// workloads included, and removes it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type CliResult, runCli } from "./cli.ts";
import { eventually } from "./eventually.ts";
import { HOST } from "./host.ts";
import { endProcessesIn, kill } from "./processes.ts";
import { type Program, startProgram, tailOf } from "./program.ts";
import { type AllocationJson, type Answer, type Json, type NodeJson, type RequestOptions, request } from "./rest.ts";

export interface ClusterOptions {
  readonly nodes?: number;
  /** Text of the server's configuration file. */
  readonly config?: string;
  /**
   * Keep the product's default: impossible requests are refused. Other tests submit such work to have something that
   * waits.
   */
  readonly strict?: boolean;
  readonly serverPrefix?: readonly string[];
  /** Additional flags of the server. */
  readonly serverArgs?: readonly string[];
  readonly serverEnv?: Readonly<Record<string, string>>;
  readonly serverDataDir?: string;
  /** Topology groups, assigned to the nodes in turn. */
  readonly groups?: readonly string[];
  /** Home vClusters by node; all other nodes serve every vCluster. */
  readonly homes?: Readonly<Record<string, string>>;
  /** All agents share one directory for output and checkpoints. */
  readonly output?: boolean;
  /** Additional flags of every agent. */
  readonly agentArgs?: readonly string[];
  readonly agentEnv?: Readonly<Record<string, string>>;
  /** Command prefix of an agent by node, for example one that enters a namespace. */
  readonly agentPrefix?: (node: string) => readonly string[];
  /** Address of the server. Default: a loopback address. */
  readonly host?: string;
}

const LOG_LINES_SHOWN = 40;
const FINAL = ["completed", "failed", "cancelled"];

export class Cluster {
  readonly dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
  readonly #options: ClusterOptions;
  #server: Program | null = null;
  readonly #agents = new Map<string, Program>();
  #rest: string;
  #grpc: string;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#rest = `${options.host ?? HOST}:0`;
    this.#grpc = this.#rest;
    mkdirSync(join(this.dir, "home"));
  }

  get restAddress(): string {
    return this.#rest;
  }
  get grpcAddress(): string {
    return this.#grpc;
  }
  get apiUrl(): string {
    return `http://${this.#rest}`;
  }
  get server(): Program {
    if (this.#server === null) throw new Error("the server is not started");
    return this.#server;
  }
  get nodeIds(): readonly string[] {
    return Array.from({ length: this.#options.nodes ?? 0 }, (_, n) => `node-${n + 1}`);
  }
  get serverDataDir(): string {
    return this.#options.serverDataDir ?? join(this.dir, "server");
  }
  /** Returns a path that a job can write to. */
  file(name: string): string {
    return join(this.dir, name);
  }
  agent(node: string): Program {
    const agent = this.#agents.get(node);
    if (agent === undefined) throw new Error(`no agent for ${node}`);
    return agent;
  }

  async start(): Promise<void> {
    await this.startServer();
    for (const node of this.nodeIds) this.startAgent(node);
    await this.nodesReady();
  }

  /** Restarts on the same ports and data. */
  async startServer(): Promise<void> {
    const args = ["--data-dir", this.serverDataDir, "--rest-listen", this.#rest, "--grpc-listen", this.#grpc];
    args.push(...(this.#options.serverArgs ?? []));
    const config = configOf(this.#options);
    if (config !== "") {
      writeFileSync(join(this.dir, "server.yaml"), config);
      args.unshift("--config", join(this.dir, "server.yaml"));
    }
    this.#server = startProgram("lattice-server", {
      args,
      logFile: join(this.dir, "server.log"),
      ...(this.#options.serverPrefix === undefined ? {} : { prefix: this.#options.serverPrefix }),
      ...(this.#options.serverEnv === undefined ? {} : { env: this.#options.serverEnv }),
    });
    const ready = await this.#server.ready();
    this.#rest = String(ready.rest);
    this.#grpc = String(ready.grpc);
    await eventually({ what: "the server is ready" }, async () =>
      (await request(this.apiUrl, "GET", "/readyz")).status === 200 ? true : null,
    );
  }

  /** `more` are flags in addition to those of all agents. */
  startAgent(node: string, more: readonly string[] = []): Program {
    const groups = this.#options.groups ?? [];
    const group = groups.length === 0 ? [] : ["--group", groups[this.nodeIds.indexOf(node) % groups.length] ?? ""];
    const dataDir = join(this.dir, `agent-${node}`);
    const home = this.#options.homes?.[node];
    if (home !== undefined) group.push("--home-vcluster", home);
    const agent = startProgram("lattice-agent", {
      args: [
        "--node-id",
        node,
        "--server",
        this.#grpc,
        "--data-dir",
        dataDir,
        "--metrics-listen",
        "none",
        ...group,
        ...(this.#options.output === true ? ["--output-dir", this.file("output")] : []),
        ...(this.#options.agentArgs ?? []),
        ...more,
      ],
      ...(this.#options.agentEnv === undefined ? {} : { env: this.#options.agentEnv }),
      ...(this.#options.agentPrefix === undefined ? {} : { prefix: this.#options.agentPrefix(node) }),
      logFile: join(this.dir, `agent-${node}.log`),
    });
    this.#agents.set(node, agent);
    return agent;
  }

  /** Starts one agent with hollow nodes, `hollow-1` and so on. */
  startHollow(count: number): Program {
    const dataDir = join(this.dir, "agent-hollow");
    const agent = startProgram("lattice-agent", {
      args: ["--server", this.#grpc, "--data-dir", dataDir, "--hollow", String(count)],
      logFile: join(this.dir, "agent-hollow.log"),
    });
    this.#agents.set("hollow", agent);
    return agent;
  }

  async hollowReady(count: number): Promise<void> {
    await eventually({ what: `${count} hollow nodes are ready` }, async () => {
      const { body } = await this.api<{ readonly total?: number }>("GET", "/nodes?state=ready&page_size=1");
      return body.total === count ? true : null;
    });
  }

  async nodesReady(nodes: readonly string[] = this.nodeIds): Promise<void> {
    if (nodes.length === 0) return;
    await eventually({ what: `nodes ${nodes.join(", ")} are ready` }, async () => {
      const ready = (await this.nodes()).filter((node) => node.state === "ready" && node.connected === true);
      return nodes.every((id) => ready.some((node) => node.id === id)) ? true : null;
    });
  }

  /** Calls as the user of the command line, who may do what only the owner of the submitted work may. */
  async api<T = Json>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const headers = { "x-lattice-user": userInfo().username, ...options.headers };
    return await request<T>(this.apiUrl, method, `/api/v1${path}`, { ...options, headers });
  }

  /** Submits and returns the id. Throws unless the submission succeeds. */
  async submit(body: Json, options: RequestOptions = {}): Promise<string> {
    const answer = await this.api<{ readonly id: string }>("POST", "/allocations", { ...options, body });
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`submit: ${answer.status} ${answer.text}`);
    return answer.body.id;
  }

  async allocation(id: string): Promise<AllocationJson> {
    const answer = await this.api<AllocationJson>("GET", `/allocations/${id}`);
    if (answer.status !== 200) throw new Error(`get ${id}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async reaches(id: string, states: readonly string[], withinMs = 120_000): Promise<AllocationJson> {
    let seen = "";
    try {
      return await eventually({ what: `allocation ${id} becomes ${states.join(" or ")}`, withinMs }, async () => {
        const record = await this.allocation(id);
        seen = JSON.stringify(record);
        return states.includes(record.state) ? record : null;
      });
    } catch (error) {
      throw new Error(`${String(error)}; last seen: ${seen}`);
    }
  }

  async ends(id: string, withinMs = 120_000): Promise<AllocationJson> {
    return await this.reaches(id, FINAL, withinMs);
  }

  async released(id: string): Promise<void> {
    await eventually({ what: `no node is claimed by ${id}` }, async () => {
      const claims = (await this.nodes()).flatMap((node) => node.claims ?? []);
      return claims.some((claim) => claim.allocation_id === id) ? null : true;
    });
  }

  /** Lists every allocation, page by page. */
  async allocations(query = ""): Promise<readonly AllocationJson[]> {
    const found: AllocationJson[] = [];
    for (let token = ""; ; ) {
      const path = `/allocations?page_size=500${query === "" ? "" : `&${query}`}&page_token=${encodeURIComponent(token)}`;
      const answer = await this.api<{ allocations?: AllocationJson[]; next_page_token?: string }>("GET", path);
      if (answer.status !== 200) throw new Error(`list: ${answer.status} ${answer.text}`);
      found.push(...(answer.body.allocations ?? []));
      token = answer.body.next_page_token ?? "";
      if (token === "") return found;
    }
  }

  async nodes(): Promise<readonly NodeJson[]> {
    const answer = await this.api<{ readonly nodes?: readonly NodeJson[] }>("GET", "/nodes");
    if (answer.status !== 200) throw new Error(`nodes: ${answer.status} ${answer.text}`);
    return answer.body.nodes ?? [];
  }

  async node(id: string): Promise<NodeJson> {
    const answer = await this.api<NodeJson>("GET", `/nodes/${id}`);
    if (answer.status !== 200) throw new Error(`node ${id}: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async cli(
    args: readonly string[],
    options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
  ): Promise<CliResult> {
    return await runCli(args, { ...options, env: this.cliEnvironment(options.env ?? {}) });
  }

  cliEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    const home = join(this.dir, "home");
    return { LATTICE_API_URL: this.apiUrl, HOME: home, XDG_CONFIG_HOME: join(home, ".config"), ...extra };
  }

  printLogs(): void {
    const files = ["server", ...[...this.#agents.keys()].map((node) => `agent-${node}`)];
    for (const name of files) {
      console.error(`---- ${name}.log, last lines\n${tailOf(join(this.dir, `${name}.log`), LOG_LINES_SHOWN)}`);
    }
  }

  async close(): Promise<void> {
    for (const program of [this.#server, ...this.#agents.values()]) {
      if (program?.isRunning()) kill(program.pid, "SIGKILL");
    }
    await endProcessesIn(this.dir);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20 });
  }
}

function configOf({ config = "", strict = false }: ClusterOptions): string {
  if (strict || /^scheduling:/m.test(config)) return config;
  return `${config.replace(/\n?$/, "\n")}scheduling:\n  impossible_requests: warn\n`;
}
