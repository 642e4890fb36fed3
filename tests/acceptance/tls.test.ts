// A cluster with mutual TLS: certificates from `lattice admin pki`, a node with another node's certificate, a renewal
// in progress, and SPIRE identities.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli, spawnCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { compileMpi } from "../harness/mpi.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { type Program, root, startProgram, tailOf } from "../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-test-tls-"));
const pki = join(dir, "pki");
const programs: Program[] = [];
let rest = "";
let grpc = "";

const env = () => ({
  LATTICE_API_URL: `https://${rest.replace("127.0.0.1", "localhost")}`,
  LATTICE_CA: join(pki, "ca.crt"),
  HOME: dir,
});
const lattice = (...words: string[]) => runCli(words, { env: env() });

async function good(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await lattice(...words);
  expect(code, `lattice ${words.join(" ")}: ${stderr}`).toBe(0);
  return stdout;
}

function start(name: string, args: readonly string[], more: Record<string, string> = {}): Program {
  const logFile = join(dir, `${name}-${programs.length}.log`);
  const program = startProgram(name, { args, logFile, env: { LATTICE_SPIRE_SOCKET: join(dir, "no.sock"), ...more } });
  programs.push(program);
  return program;
}

const agent = (node: string, shown: string, more: Record<string, string> = {}) =>
  start(
    "lattice-agent",
    [
      ...["--node-id", node, "--server", `https://${grpc}`, "--data-dir", join(dir, `agent-${node}`)],
      ...["--bootstrap-cert", join(pki, `${shown}.crt`), "--bootstrap-key", join(pki, `${shown}.key`)],
      ...["--bootstrap-ca", join(pki, "ca.crt"), "--peer-listen", "127.0.0.1:0"],
    ],
    more,
  );

const ready = (node: string) =>
  eventually({ what: `${node} is ready` }, async () =>
    /"state": "ready"/.test((await lattice("nodes", node, "-o", "json")).stdout) ? true : null,
  );

beforeAll(async () => {
  await runCli(["admin", "pki", "init", "--dir", pki, "--site", "test"]);
  await runCli([
    "admin",
    "pki",
    "issue",
    "s1",
    "--kind",
    "server",
    "--host",
    "localhost",
    "--host",
    "127.0.0.1",
    "--dir",
    pki,
  ]);
  for (const node of ["n1", "n2", "n3", "n4"])
    await runCli(["admin", "pki", "issue", node, "--kind", "agent", "--dir", pki]);
  const server = start("lattice-server", [
    ...["--data-dir", join(dir, "server"), "--rest-listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"],
    ...["--config", configFile()],
  ]);
  const line = await server.ready();
  rest = String(line.rest);
  grpc = String(line.grpc);
});

function configFile(): string {
  const path = join(dir, "server.json");
  const api = { tls_cert: join(pki, "s1.crt"), tls_key: join(pki, "s1.key"), tls_ca: join(pki, "ca.crt") };
  // Two nodes exceed the limit here: their agents exchange addresses among themselves.
  writeFileSync(path, JSON.stringify({ api, tasks: { fence_star_nodes: 1 } }));
  return path;
}

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("a job runs over TLS on a node with a certificate, and a client of another authority sees nothing", async () => {
  agent("n1", "n1");
  await ready("n1");
  const output = await good("submit", "--wait", "-q", "--", "/bin/echo", "closed to strangers");
  expect(await good("logs", output.trim().split("\n")[0] ?? "")).toContain("closed to strangers");
  const { code, stderr } = await runCli(["status"], { env: { ...env(), LATTICE_CA: "" } });
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/certificate/);
});

test("ranks on two nodes connect through agents that authenticate each other by certificate", async () => {
  agent("n4", "n4");
  await ready("n4");
  const id = (await good("submit", "-q", "--nodes=2", "--walltime=1h", "--", "sleep", "3000")).trim();
  await eventually({ what: "it runs" }, async () =>
    /"state": "running"/.test((await lattice("status", id, "-o", "json")).stdout) ? true : null,
  );
  const program = compileMpi(dir, "allreduce");
  const output = await good("launch", `--alloc=${id}`, "--tasks-per-node=1", program);
  expect(output).toContain("rank 1 of 2: sum 1, from 0: 0");
  // The native launcher speaks TLS as well: there is no Node on this PATH.
  mkdirSync(join(dir, "bare"));
  for (const tool of ["sh", "readlink"]) symlinkSync(`/bin/${tool}`, join(dir, "bare", tool));
  const bare = { ...env(), PATH: join(dir, "bare") };
  const small = await runCli(["launch", `--alloc=${id}`, "-n", "1", "echo", "by TLS"], { env: bare });
  expect(small).toEqual({ code: 0, stdout: "by TLS\n", stderr: "" });
  const list = ["sh", "-c", 'ls "$LATTICE_ATTEMPT_DIR/launches/$LATTICE_LAUNCH_ID"'];
  expect(await good("launch", `--alloc=${id}`, ...list), "they have their places in the tree").toContain("fence\n");
  const stranger = await runCli(["launch", `--alloc=${id}`, "true"], {
    env: { ...env(), LATTICE_CA: join(pki, "n1.crt") },
  });
  expect(stranger).toMatchObject({ stdout: "", stderr: expect.stringMatching(/certificate/) });
  await good("cancel", id);
});

test("a node with another node's certificate is refused by name and counted", async () => {
  const impostor = agent("n2", "n3");
  await eventually({ what: "the impostor is refused" }, async () =>
    /certificate is for n3/.test(tailOf(impostor.logFile, 100)) ? true : null,
  );
  await impostor.stop();
  expect((await lattice("nodes", "n2")).code).not.toBe(0);
  const metrics = await new Promise<string>((resolve, reject) => {
    get(`https://${rest}/metrics`, { ca: readFileSync(join(pki, "ca.crt")) }, (answer) => resolve(text(answer))).on(
      "error",
      reject,
    );
  });
  expect(metrics).toMatch(/lattice_agents_refused_total [1-9]/);
});

test("a renewed certificate serves new connections while open streams continue", async () => {
  const before = await serialShown();
  const { lines, stop } = await followed();
  await good("admin", "pki", "renew", "s1", "n1", "--dir", pki);
  const [server] = programs;
  process.kill(server?.pid ?? 0, "SIGHUP");
  await eventually({ what: "the new certificate is served" }, async () =>
    (await serialShown()) === before ? null : true,
  );
  const seen = lines();
  await eventually({ what: "the old stream continues" }, async () => (lines() > seen + 3 ? true : null));
  await stop();
  const half = join(pki, "s1.crt");
  cpSync(join(pki, "n1.crt"), half);
  process.kill(server?.pid ?? 0, "SIGHUP");
  await eventually({ what: "a certificate without its key is not taken" }, async () =>
    /keeping the current one/.test(tailOf(server?.logFile ?? "", 20)) ? true : null,
  );
  await good("status");
});

test("an agent takes its identity from SPIRE, and its stream survives a rotation", async () => {
  const socket = join(dir, "spire.sock");
  const spire = startProgram("workload-api", {
    path: join(root, "tests", "harness", "workload-api.mjs"),
    args: [socket, pki, "n3"],
    logFile: join(dir, "spire.log"),
  });
  programs.push(spire);
  await spire.ready();
  const args = ["--node-id", "n3", "--server", grpc, "--data-dir", join(dir, "agent-n3"), "--feature", "spire"];
  const node = start("lattice-agent", args, { LATTICE_SPIRE_SOCKET: socket });
  await ready("n3");
  const { id, lines, stop } = await followed("--constraint=spire");
  await good("admin", "pki", "renew", "n3", "--dir", pki);
  await eventually({ what: "the agent takes the renewed identity" }, async () =>
    // Once at start, and once more.
    readFileSync(node.logFile, "utf8").split("TLS identity renewed").length > 2 ? true : null,
  );
  const seen = lines();
  await eventually({ what: "the stream continues" }, async () => (lines() > seen + 3 ? true : null));
  await stop();
  expect(await good("nodes", "n3", "-o", "json")).toContain('"ready"');
  expect(await good("status", id, "-o", "json"), "the same attempt all along").toContain('"attempt": 1');
});

/** A job with periodic output and a follower; the follower misses nothing. */
async function followed(...words: readonly string[]) {
  const count = "n=0; while :; do n=$((n + 1)); echo $n; sleep 0.2; done";
  const id = (await good("submit", "-q", ...words, "--", "/bin/sh", "-c", count)).trim();
  const follower = spawnCli(["logs", "--follow", id], { env: env() });
  let shown = "";
  follower.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const whole = (): string[] => shown.split("\n").slice(0, -1);
  await eventually({ what: "output comes" }, async () => (whole().length > 2 ? true : null));
  const stop = async (): Promise<void> => {
    expect(follower.exitCode, "it was one stream").toBeNull();
    follower.kill();
    expect(whole()).toEqual(whole().map((_, n) => String(n + 1)));
    await good("cancel", id);
  };
  return { id, lines: () => whole().length, stop };
}

async function serialShown(): Promise<string> {
  const { connect } = await import("node:tls");
  const [host = "", port = ""] = rest.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host, port: Number(port), ca: readFileSync(join(pki, "ca.crt")), servername: "localhost" },
      () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.end();
      },
    );
    socket.on("error", reject);
  });
}
