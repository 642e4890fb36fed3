// Several real servers, each with its own etcd member, and agents that know all of them. Members outlive their servers,
// as in production. `close` ends every process that mentions the directory.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { type CliResult, runCli } from "./cli.ts";
import { eventually } from "./eventually.ts";
import { HOST } from "./host.ts";
import { endProcessesIn, kill } from "./processes.ts";
import { type Program, startProgram } from "./program.ts";
import { type Answer, type Json, type RequestOptions, request } from "./rest.ts";

interface Place {
  readonly rest: number;
  readonly grpc: number;
  readonly etcdClient: number;
  readonly etcdPeer: number;
}

interface Health {
  readonly is_leader?: boolean;
  readonly leader?: string;
}

export interface QuorumOptions {
  readonly servers: number;
  readonly nodes: number;
  /** Slots for servers that are started later. */
  readonly spares?: number;
  /** Settings merged into the configuration of every server. */
  readonly quorum?: Json;
  readonly settings?: Json;
  /** Lease of a silent leader; a killed leader is replaced at once. */
  readonly leaseSeconds?: number;
  /** File of a server's program. Default: the built one. */
  readonly path?: (n: number) => string | undefined;
  /** Variables for the program of a server. */
  readonly env?: (n: number) => Readonly<Record<string, string>>;
}

export class Quorum {
  readonly dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
  readonly #places: readonly Place[];
  readonly #servers = new Map<number, Program>();
  readonly #agents: Program[] = [];

  #options: QuorumOptions;

  private constructor(places: readonly Place[], options: QuorumOptions) {
    this.#places = places;
    this.#options = options;
  }

  static async start(options: QuorumOptions): Promise<Quorum> {
    const places = options.servers + (options.spares ?? 0);
    const ports = await freePorts(places * 4);
    const port = (n: number) => ports[n] ?? 0;
    const quorum = new Quorum(
      Array.from({ length: places }, (_, n) => ({
        rest: port(4 * n),
        grpc: port(4 * n + 1),
        etcdClient: port(4 * n + 2),
        etcdPeer: port(4 * n + 3),
      })),
      options,
    );
    try {
      await quorum.#startAll(options);
    } catch (error) {
      await quorum.close();
      throw error;
    }
    return quorum;
  }

  async #startAll(options: QuorumOptions): Promise<void> {
    if (options.servers === 0) return;
    for (let n = 1; n <= options.servers; n += 1) {
      await this.startServer(n, n === 1 ? ["--bootstrap"] : ["--join", this.grpc(1)]);
    }
    for (let n = 1; n <= options.nodes; n += 1) this.#startAgent(n);
    await eventually({ what: "every node is ready" }, async () => {
      const { body } = await this.api<{ nodes?: { state: string }[] }>(1, "GET", "/nodes");
      return (body.nodes ?? []).filter((node) => node.state === "ready").length === options.nodes ? true : null;
    });
  }

  /** Servers are numbered from 1. */
  async startServer(n: number, how: readonly string[] = []): Promise<void> {
    const place = this.#places[n - 1];
    if (place === undefined) throw new Error(`there is no server ${n}`);
    const config = join(this.dir, `server-${n}.yaml`);
    mkdirSync(join(this.dir, `server-${n}`), { recursive: true });
    writeFileSync(config, JSON.stringify(configOf(this.dir, n, place, this.#options)));
    const path = this.#options.path?.(n);
    const server = startProgram("lattice-server", {
      args: ["--config", config, ...how],
      ...(path === undefined ? {} : { path }),
      logFile: join(this.dir, `server-${n}.log`),
      env: this.#options.env?.(n) ?? {},
    });
    this.#servers.set(n, server);
    await server.ready();
    const ready = eventually({ what: `server ${n} is ready` }, async () =>
      (await request(this.url(n), "GET", "/readyz").catch(() => null))?.status === 200 ? true : null,
    );
    const ended = server.ended.then((code) => {
      throw new Error(`server ${n} ended with ${code} before it was ready`);
    });
    // A failure of a request that is no longer awaited is ignored.
    for (const outcome of [ready, ended]) outcome.catch(() => {});
    await Promise.race([ready, ended]);
  }

  /** Changes the settings of servers that start from now on. */
  configure(change: Pick<QuorumOptions, "quorum" | "settings" | "env">): void {
    this.#options = { ...this.#options, ...change };
  }

  server(n: number): Program {
    const server = this.#servers.get(n);
    if (server === undefined) throw new Error(`server ${n} is not started`);
    return server;
  }

  url(n: number): string {
    return `http://${HOST}:${this.#places[n - 1]?.rest}`;
  }

  /** Client URL of a server's etcd member. */
  etcd(n: number): string {
    return `${HOST}:${this.#places[n - 1]?.etcdClient}`;
  }

  /** Peer URL of a server's etcd member. */
  etcdPeer(n: number): string {
    return `${HOST}:${this.#places[n - 1]?.etcdPeer}`;
  }

  grpc(n: number): string {
    return `${HOST}:${this.#places[n - 1]?.grpc}`;
  }

  /** Process id of the server's etcd member. */
  etcdPid(n: number): number {
    const file = join(this.dir, `server-${n}`, "log", "etcd", "etcd.pid");
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly pid: number }).pid;
  }

  /** Kills the server and its etcd member with SIGKILL, as when a machine is lost. */
  async lose(n: number): Promise<void> {
    const pid = this.etcdPid(n);
    await this.server(n).kill();
    kill(pid, "SIGKILL");
  }

  /** Deletes the data, as on a reinstalled machine. */
  wipe(n: number): void {
    rmSync(join(this.dir, `server-${n}`), { recursive: true, force: true, maxRetries: 9 });
  }

  cli(n: number, ...args: readonly string[]): Promise<CliResult> {
    return runCli(args, { env: this.cliEnvironment(n) });
  }

  cliEnvironment(n: number): Readonly<Record<string, string>> {
    return { LATTICE_API_URL: this.url(n), HOME: this.dir, XDG_CONFIG_HOME: join(this.dir, ".config") };
  }

  async api<T = Json>(n: number, method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    // As the user of the command line, who owns what it submits.
    const headers = { "x-lattice-user": userInfo().username, ...options.headers };
    return await request<T>(this.url(n), method, `/api/v1${path}`, { ...options, headers });
  }

  /** Returns the leader, as reported by the servers. */
  async leader(): Promise<number> {
    return await eventually({ what: "a server leads" }, async () => {
      for (const n of this.#servers.keys()) {
        const answer = await request<Health>(this.url(n), "GET", "/healthz").catch(() => null);
        if (answer?.body.is_leader === true) return n;
      }
      return null;
    });
  }

  async submit(n: number, body: Json): Promise<string> {
    const answer = await this.api<{ readonly id: string }>(n, "POST", "/allocations", { body });
    if (answer.status !== 200) throw new Error(`submit: ${answer.status} ${answer.text}`);
    return answer.body.id;
  }

  async state(n: number, id: string): Promise<string> {
    const answer = await this.api<{ readonly state: string }>(n, "GET", `/allocations/${id}`);
    return answer.status === 200 ? answer.body.state : `${answer.status}`;
  }

  async reaches(n: number, id: string, state: string): Promise<void> {
    await eventually({ what: `allocation ${id} is ${state} on server ${n}` }, async () =>
      (await this.state(n, id)) === state ? true : null,
    );
  }

  async close(): Promise<void> {
    for (const program of [...this.#agents, ...this.#servers.values()]) await program.kill();
    await endProcessesIn(this.dir);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20 });
  }

  #startAgent(n: number): void {
    // Each agent starts with another server, so that some talk to followers.
    const order = this.#places.map((_, k) => this.#places[(n + k) % this.#places.length]);
    const servers = order.flatMap((place) => ["--server", `${HOST}:${place?.grpc}`]);
    this.#agents.push(
      startProgram("lattice-agent", {
        args: ["--node-id", `node-${n}`, "--data-dir", join(this.dir, `agent-${n}`), ...servers],
        logFile: join(this.dir, `agent-${n}.log`),
      }),
    );
  }
}

/** On a busy machine a live leader may be silent for long. */
const LEASE_SECONDS = 15;

/** JSON is valid YAML. */
const configOf = (dir: string, n: number, place: Place, { quorum, settings, leaseSeconds }: QuorumOptions) => ({
  server: { id: `server-${n}`, data_dir: join(dir, `server-${n}`) },
  quorum: {
    engine: "etcd",
    node_id: n,
    etcd: {
      managed: true,
      lease_seconds: leaseSeconds ?? LEASE_SECONDS,
      client_listen: `${HOST}:${place.etcdClient}`,
      peer_address: `${HOST}:${place.etcdPeer}`,
    },
    ...quorum,
  },
  api: { rest_listen: `${HOST}:${place.rest}`, grpc_listen: `${HOST}:${place.grpc}` },
  // Tests submit work that never starts, to have something that waits.
  scheduling: { impossible_requests: "warn" },
  ...settings,
});

export async function freePorts(count: number): Promise<number[]> {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, HOST, () => resolve(server));
        }),
    ),
  );
  const ports = sockets.map((socket) => (socket.address() as { port: number }).port);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.close(resolve))));
  return ports;
}
