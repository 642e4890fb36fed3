// Three real servers on etcd members of their own, and agents that know all of them. Members outlive
// their servers, as in production; closing ends everything that mentions the folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { endAllIn } from "./processes.ts";
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

export class Quorum {
  readonly dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
  readonly #places: readonly Place[];
  readonly #servers = new Map<number, Program>();
  readonly #agents: Program[] = [];

  private constructor(places: readonly Place[]) {
    this.#places = places;
  }

  static async start(options: { readonly servers: number; readonly nodes: number }): Promise<Quorum> {
    const ports = await freePorts(options.servers * 4);
    const port = (n: number) => ports[n] ?? 0;
    const quorum = new Quorum(
      Array.from({ length: options.servers }, (_, n) => ({
        rest: port(4 * n),
        grpc: port(4 * n + 1),
        etcdClient: port(4 * n + 2),
        etcdPeer: port(4 * n + 3),
      })),
    );
    try {
      await quorum.#startAll(options);
    } catch (error) {
      await quorum.close();
      throw error;
    }
    return quorum;
  }

  async #startAll(options: { readonly servers: number; readonly nodes: number }): Promise<void> {
    for (let n = 1; n <= options.servers; n += 1) {
      const first = `127.0.0.1:${this.#places[0]?.etcdClient}`;
      await this.startServer(n, n === 1 ? ["--bootstrap"] : ["--join", first]);
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
    writeFileSync(config, configOf(this.dir, n, place));
    const server = startProgram("lattice-server", {
      args: ["--config", config, ...how],
      logFile: join(this.dir, `server-${n}.log`),
    });
    this.#servers.set(n, server);
    await server.ready();
    await eventually({ what: `server ${n} is ready`, withinMs: 60_000 }, async () =>
      (await request(this.url(n), "GET", "/readyz").catch(() => null))?.status === 200 ? true : null,
    );
  }

  server(n: number): Program {
    const server = this.#servers.get(n);
    if (server === undefined) throw new Error(`server ${n} is not started`);
    return server;
  }

  url(n: number): string {
    return `http://127.0.0.1:${this.#places[n - 1]?.rest}`;
  }

  grpc(n: number): string {
    return `127.0.0.1:${this.#places[n - 1]?.grpc}`;
  }

  async api<T = Json>(n: number, method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    return await request<T>(this.url(n), method, `/api/v1${path}`, options);
  }

  /** The server that leads, asked of the servers themselves. */
  async leader(): Promise<number> {
    return await eventually({ what: "a server leads", withinMs: 30_000 }, async () => {
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
    await eventually({ what: `allocation ${id} is ${state} on server ${n}`, withinMs: 60_000 }, async () =>
      (await this.state(n, id)) === state ? true : null,
    );
  }

  async close(): Promise<void> {
    for (const program of [...this.#agents, ...this.#servers.values()]) await program.kill();
    await endAllIn(this.dir);
    rmSync(this.dir, { recursive: true, force: true });
  }

  #startAgent(n: number): void {
    // Each begins with another server, so that some speak to followers.
    const order = this.#places.map((_, k) => this.#places[(n + k) % this.#places.length]);
    const servers = order.flatMap((place) => ["--server", `127.0.0.1:${place?.grpc}`]);
    this.#agents.push(
      startProgram("lattice-agent", {
        args: ["--node-id", `node-${n}`, "--data-dir", join(this.dir, `agent-${n}`), ...servers],
        logFile: join(this.dir, `agent-${n}.log`),
      }),
    );
  }
}

const configOf = (dir: string, n: number, place: Place): string => `
server: { id: server-${n}, data_dir: ${join(dir, `server-${n}`)} }
quorum:
  engine: etcd
  node_id: ${n}
  etcd:
    managed: true
    client_listen: 127.0.0.1:${place.etcdClient}
    peer_address: 127.0.0.1:${place.etcdPeer}
api: { rest_listen: "127.0.0.1:${place.rest}", grpc_listen: "127.0.0.1:${place.grpc}" }
`;

async function freePorts(count: number): Promise<number[]> {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = sockets.map((socket) => (socket.address() as { port: number }).port);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.close(resolve))));
  return ports;
}
