// Three servers and their etcd members authenticate by certificate: a follower's write reaches the leader, an agent is
// served through a follower, and a server with a certificate of another authority is refused until it has a valid one.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { makePki, SERVER_FLAGS, type TestPki } from "../harness/pki.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { freePorts } from "../harness/quorum.ts";
import { startLoad } from "../harness/steady-load.ts";

const SERVERS = [1, 2, 3] as const;
/** Refusals of servers that stop, start or change the leader. */
const RETRYABLE: ReadonlySet<string> = new Set(["shutting_down", "not_leader", "log_unavailable"]);
const dir = mkdtempSync(join(tmpdir(), "lattice-test-quorum-tls-"));
const servers = new Map<number, Program>();
let ports: readonly number[] = [];
let pki: TestPki;

const port = (n: number, which: "rest" | "grpc" | "client" | "peer") =>
  ports[4 * (n - 1) + ["rest", "grpc", "client", "peer"].indexOf(which)] ?? 0;
/** The certificate files of a server; a copy, so that they can be replaced. */
const shown = (n: number, file: string) => join(dir, `shown-${n}`, file);

function show(n: number, from: TestPki): void {
  mkdirSync(join(dir, `shown-${n}`), { recursive: true });
  for (const ending of ["key", "crt"]) cpSync(from.path(`s${n}.${ending}`), shown(n, `server.${ending}`));
}

async function startServer(n: number): Promise<void> {
  const tls = { ca: pki.path("ca.crt"), cert: pki.path(`s${n}.crt`), key: pki.path(`s${n}.key`) };
  const config = join(dir, `server-${n}.json`);
  const settings = {
    server: { id: `s${n}`, data_dir: join(dir, `server-${n}`) },
    quorum: {
      engine: "etcd",
      node_id: n,
      etcd: {
        managed: true,
        lease_seconds: 15,
        client_listen: `${HOST}:${port(n, "client")}`,
        peer_address: `${HOST}:${port(n, "peer")}`,
        tls,
      },
    },
    api: {
      rest_listen: `${HOST}:${port(n, "rest")}`,
      grpc_listen: `${HOST}:${port(n, "grpc")}`,
      tls_cert: shown(n, "server.crt"),
      tls_key: shown(n, "server.key"),
      tls_ca: pki.path("ca.crt"),
    },
  };
  writeFileSync(config, JSON.stringify(settings));
  const how = n === 1 ? ["--bootstrap"] : ["--join", `${HOST}:${port(1, "client")}`];
  const server = startProgram("lattice-server", {
    args: ["--config", config, ...how],
    logFile: join(dir, `server-${n}.log`),
  });
  servers.set(n, server);
  await server.ready();
}

const lattice = (n: number, ...words: string[]) =>
  runCli(words, {
    env: { LATTICE_API_URL: `https://${HOST}:${port(n, "rest")}`, LATTICE_CA: pki.path("ca.crt"), HOME: dir },
  });

async function good(n: number, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await lattice(n, ...words);
  expect(code, `server ${n}: lattice ${words.join(" ")}: ${stderr}`).toBe(0);
  return stdout.trim();
}

const allocations = async (n: number): Promise<number> =>
  (JSON.parse(await good(n, "status", "--all", "-o", "json")) as { allocations?: unknown[] }).allocations?.length ?? 0;

async function follower(): Promise<number> {
  return await eventually({ what: "a server leads" }, async () => {
    const status = JSON.parse(await good(1, "admin", "raft", "status", "-o", "json")) as { leader?: string };
    return SERVERS.findLast((n) => status.leader !== undefined && status.leader !== `s${n}`) ?? null;
  });
}

beforeAll(async () => {
  ports = await freePorts(4 * SERVERS.length);
  pki = await makePki(join(dir, "pki"));
  for (const n of SERVERS) {
    await pki.issue(`s${n}`, ...SERVER_FLAGS);
    show(n, pki);
  }
  await pki.issue("n1", "--kind", "agent");
  for (const n of SERVERS) await startServer(n);
});

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("a follower forwards writes and agent streams to the leader over mutual TLS", async () => {
  const at = await follower();
  startProgram("lattice-agent", {
    args: [
      ...["--node-id", "n1", "--server", `https://${HOST}:${port(at, "grpc")}`, "--data-dir", join(dir, "agent-n1")],
      ...["--bootstrap-cert", pki.path("n1.crt"), "--bootstrap-key", pki.path("n1.key")],
      ...["--bootstrap-ca", pki.path("ca.crt")],
    ],
    env: { LATTICE_SPIRE_SOCKET: join(dir, "no.sock") },
    logFile: join(dir, "agent-n1.log"),
  });
  await eventually({ what: "n1 is ready" }, async () =>
    /"state": "ready"/.test((await lattice(at, "nodes", "n1", "-o", "json")).stdout) ? true : null,
  );
  const [id = ""] = (await good(at, "submit", "--wait", "-q", "--", "/bin/echo", "passed on")).split("\n");
  expect(await good(at, "logs", id)).toContain("passed on");
  for (const n of SERVERS) expect(await good(n, "status", id, "-o", "json")).toContain('"completed"');
});

test("a rolling restart under load answers every request, and loses and doubles none", async () => {
  const load = startLoad({
    urls: SERVERS.map((n) => `https://${HOST}:${port(n, "rest")}`),
    clientsPerServer: 4,
    ca: readFileSync(pki.path("ca.crt")),
    headers: { "x-lattice-user": "ada" },
    body: { entrypoint: "true", tenant: "default", name: "rolling", nodes: 1 },
  });
  for (const n of SERVERS) {
    const before = load.acknowledged();
    await eventually({ what: "the clients are served" }, () => (load.acknowledged() >= before + 60 ? true : null));
    expect(await servers.get(n)?.stop()).toBe(0);
    await startServer(n);
  }
  const { ids, problems, unreachable, unanswered } = await load.stop();
  expect(unanswered).toEqual([]);
  // A server that stops sends its clients to another one.
  expect([...problems.keys()].filter((code) => !RETRYABLE.has(code))).toEqual([]);
  expect(unreachable).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(ids.length);
  const listed = JSON.parse(
    await good(1, "status", "--all", "--name", "rolling", "--limit", "100000", "-o", "json"),
  ) as {
    allocations?: { id: string }[];
  };
  expect((listed.allocations ?? []).map(({ id }) => id).sort()).toEqual([...ids].sort());
});

test("a server with a certificate of another authority is refused and changes nothing", async () => {
  const at = await follower();
  const before = await allocations(1);
  const foreign = await makePki(join(dir, "foreign"));
  await foreign.issue(`s${at}`, ...SERVER_FLAGS);
  await servers.get(at)?.stop();
  show(at, foreign);
  await startServer(at);
  const env = {
    LATTICE_API_URL: `https://${HOST}:${port(at, "rest")}`,
    LATTICE_CA: foreign.path("ca.crt"),
    HOME: dir,
  };
  const refused = await eventually({ what: "its writes are refused by the leader" }, async () => {
    const output = await runCli(["submit", "--", "/bin/true"], { env });
    return /certificate of the cluster's authority/.test(output.stderr) ? output : null;
  });
  expect(refused.code).not.toBe(0);
  const rest = SERVERS.filter((n) => n !== at);
  for (const n of rest) expect(await allocations(n)).toBe(before);
  for (const n of rest) await good(n, "submit", "-q", "--", "/bin/true");

  show(at, pki);
  process.kill(servers.get(at)?.pid ?? 0, "SIGHUP");
  await eventually({ what: "with its own certificate it is one of them again" }, async () =>
    (await lattice(at, "submit", "-q", "--", "/bin/true")).code === 0 ? true : null,
  );
});
