// Agents that start with a token and the authority's certificate: each gets its own certificate from the server and
// renews it; a wrong token, another node's name and a connected node's name get none.

import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { type LoneServer, startLoneServer } from "../harness/lone-server.ts";
import { makePki, SERVER_FLAGS, type TestPki } from "../harness/pki.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { type Program, startProgram, tailOf } from "../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-test-first-"));
const secretFile = join(dir, "secret");
/** Long enough that a slow machine renews in time, short enough to wait for. */
const LIFETIME = "40s";
let pki: TestPki;
let server: LoneServer;
let admin = "";

async function token(...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(["admin", "token", "create", "--secret-file", secretFile, ...flags]);
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

const lattice = (...words: string[]) =>
  runCli(words, {
    env: {
      LATTICE_API_URL: `https://${server.rest.replace("127.0.0.1", "localhost")}`,
      LATTICE_CA: pki.path("ca.crt"),
      LATTICE_TOKEN: admin,
      HOME: dir,
    },
  });

async function good(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await lattice(...words);
  expect(code, `lattice ${words.join(" ")}: ${stderr}`).toBe(0);
  return stdout;
}

async function enrolment(...flags: string[]): Promise<string> {
  return (await good("admin", "enrolment", "create", ...flags)).trim();
}

const dataDir = (name: string) => join(dir, `agent-${name}`);
const logOf = (name: string) => join(dir, `agent-${name}.log`);

/** `name` is that of its folder; default: the node's. */
const agent = (name: string, agentToken: string, node = name): Program =>
  startProgram("lattice-agent", {
    args: [
      ...["--node-id", node, "--server", `https://${server.grpc}`, "--data-dir", dataDir(name)],
      ...["--bootstrap-ca", pki.path("ca.crt")],
    ],
    env: { LATTICE_SPIRE_SOCKET: join(dir, "no.sock"), LATTICE_AGENT_TOKEN: agentToken },
    logFile: logOf(name),
  });

const isReady = (node: string) =>
  eventually({ what: `${node} is ready` }, async () => {
    const { stdout } = await lattice("nodes", node, "-o", "json");
    const seen = stdout === "" ? {} : (JSON.parse(stdout) as { state?: string; connected?: boolean });
    return seen.connected === true && seen.state === "ready" ? true : null;
  });

beforeAll(async () => {
  writeFileSync(secretFile, "this secret is long enough for the hash it keys\n", { mode: 0o600 });
  pki = await makePki(join(dir, "pki"));
  await pki.issue("s1", ...SERVER_FLAGS);
  const api = {
    tls_cert: pki.path("s1.crt"),
    tls_key: pki.path("s1.key"),
    tls_ca: pki.path("ca.crt"),
    tls_ca_key: pki.path("ca.key"),
    tls_agent_lifetime: LIFETIME,
    oidc_hmac_secret: `file://${secretFile}`,
  };
  server = await startLoneServer(dir, { api, node_agent: { heartbeat_interval: "500ms" } });
  admin = await token("--user", "root", "--scope", "admin");
});

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

test("an agent with a token for its node gets a certificate, renews it, and uses it after a restart", async () => {
  const first = agent("n1", await token("--user", "n1", "--scope", "agent"));
  await isReady("n1");
  const given = new X509Certificate(readFileSync(join(dataDir("n1"), "agent.crt")));
  expect(given.subject).toContain("CN=n1.test.lattice.internal");
  expect(statSync(join(dataDir("n1"), "agent.key")).mode & 0o777).toBe(0o600);
  expect(await good("audit", "query", "--event-type", "certificate.issue", "-o", "json")).toContain(
    given.serialNumber.toLowerCase(),
  );
  expect((await lattice("submit", "--wait", "-q", "--", "/bin/true")).code).toBe(0);
  const kept = join(dataDir("n1"), "identity.pem");
  const useless = await token("--user", "n1", "--scope", "nothing");
  await eventually({ what: "certificate renewed" }, () => (existsSync(kept) ? true : null));
  await first.kill();
  // Only the certificate grants access now: this token has no valid user.
  agent("n1", useless);
  await isReady("n1");
});

test("agents with a wrong token, a token without scope or another node's token get no certificate and the reason", async () => {
  const cases = [
    ["forged", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJuMiJ9.AAAA", "n2", /no certificate is issued to this node/],
    ["person", await token("--user", "n2"), "n2", /does not have the scope agent/],
    ["other", await token("--user", "n3", "--scope", "agent"), "n2", /the token is for n3/],
  ] as const;
  for (const [name, shown, node, words] of cases) {
    const refused = agent(name, shown, node);
    expect(await refused.ended, name).toBe(1);
    expect(tailOf(logOf(name), 20)).toMatch(words);
    expect(existsSync(join(dataDir(name), "agent.crt"))).toBe(false);
  }
  expect(await good("nodes", "-q")).not.toContain("n2");
});

test("a shared token yields one certificate per node, but not for a connected node", async () => {
  const shared = await token("--user", "fleet", "--scope", "agent:any");
  agent("n4", shared);
  await isReady("n4");
  const thief = agent("thief", shared, "n4");
  await eventually({ what: "the log names the refusal" }, () =>
    tailOf(logOf("thief"), 20).includes("is connected already") ? true : null,
  );
  expect(existsSync(join(dataDir("thief"), "agent.crt"))).toBe(false);
  await thief.kill();
  await isReady("n4");
});

test("an enrolment is for its number of new nodes from its networks", async () => {
  const shared = await enrolment("--nodes", "1", "--valid", "1h", "--network", "127.0.0.0/8");
  agent("n5", shared);
  await isReady("n5");
  const elsewhere = await enrolment("--nodes", "9", "--network", "10.0.0.0/8");
  const cases = [
    ["n6", shared, /is used up: its limit of nodes is 1/],
    ["n7", elsewhere, /is for nodes in 10\.0\.0\.0\/8, and this one connects from 127\.0\.0\.1/],
  ] as const;
  for (const [name, shown, words] of cases) {
    expect(await agent(name, shown).ended, name).toBe(1);
    expect(tailOf(logOf(name), 20)).toMatch(words);
    expect(existsSync(join(dataDir(name), "agent.crt"))).toBe(false);
  }
  expect(await good("admin", "enrolment", "list")).toMatch(/used up +1\/1 .*127\.0\.0\.0\/8/);
  expect(await good("nodes", "-q")).not.toMatch(/n6|n7/);
});
