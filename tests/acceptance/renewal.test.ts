// Agents renew their own certificates, with lifetimes of a few seconds: the name stays, work and streams continue
// through several renewals, a restart uses the newest pair, and a revoked node is refused and cannot renew.

import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli, spawnCli } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { type LoneServer, startLoneServer } from "../harness/lone-server.ts";
import { makePki, SERVER_FLAGS, type TestPki } from "../harness/pki.ts";
import { endProcessesIn } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-test-renewal-"));
/** Long enough that a slow machine renews in time, short enough to wait for. */
const LIFETIME = "40s";
let pki: TestPki;
let server: LoneServer;

const lattice = (...words: string[]) =>
  runCli(words, {
    env: {
      LATTICE_API_URL: `https://${server.rest.replace("127.0.0.1", "localhost")}`,
      LATTICE_CA: pki.path("ca.crt"),
      HOME: dir,
    },
  });

async function good(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await lattice(...words);
  expect(code, `lattice ${words.join(" ")}: ${stderr}`).toBe(0);
  return stdout;
}

const agent = (node: string, ...more: readonly string[]): Program =>
  startProgram("lattice-agent", {
    args: [
      ...["--node-id", node, "--server", `https://${server.grpc}`, "--data-dir", join(dir, `agent-${node}`)],
      ...["--bootstrap-cert", pki.path(`${node}.crt`), "--bootstrap-key", pki.path(`${node}.key`)],
      ...["--bootstrap-ca", pki.path("ca.crt"), ...more],
    ],
    env: { LATTICE_SPIRE_SOCKET: join(dir, "no.sock") },
    logFile: join(dir, `agent-${node}.log`),
  });

const nodeIs = (node: string, connected: boolean) =>
  eventually({ what: `${node} is ${connected ? "" : "not "}connected` }, async () => {
    const { stdout } = await lattice("nodes", node, "-o", "json");
    const seen = JSON.parse(stdout) as { state?: string; connected?: boolean };
    return (seen.connected ?? false) === connected && (!connected || seen.state === "ready") ? true : null;
  });

/** The stored pair; `null` while it still uses the original one. */
function kept(node: string): X509Certificate | null {
  const path = join(dir, `agent-${node}`, "identity.pem");
  if (!existsSync(path)) return null;
  const [pem = ""] = /-----BEGIN CERTIFICATE-----[\s\S]*$/.exec(readFileSync(path, "utf8")) ?? [];
  return new X509Certificate(pem);
}

const renewedAfter = (node: string, serial: string) =>
  eventually({ what: `${node} has another certificate` }, async () => {
    const now = kept(node);
    return now === null || now.serialNumber === serial ? null : now;
  });

function metrics(): Promise<string> {
  const ca = readFileSync(pki.path("ca.crt"));
  return new Promise((resolve, reject) => {
    get(`https://${server.rest}/metrics`, { ca }, (answer) => resolve(text(answer))).on("error", reject);
  });
}

const metric = async (line: RegExp): Promise<number> => Number(line.exec(await metrics())?.[1]);

beforeAll(async () => {
  pki = await makePki(join(dir, "pki"));
  await pki.issue("s1", ...SERVER_FLAGS);
  await pki.run("revoke", "--serial", "0bad");
  const api = {
    tls_cert: pki.path("s1.crt"),
    tls_key: pki.path("s1.key"),
    tls_ca: pki.path("ca.crt"),
    tls_ca_key: pki.path("ca.key"),
    tls_crl: pki.path("ca.crl"),
    tls_agent_lifetime: LIFETIME,
  };
  server = await startLoneServer(dir, { api, node_agent: { heartbeat_interval: "500ms" } });
});

afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

/** Both wait for certificates to expire at the same time; the work avoids the node whose agent is killed. */
test.concurrent("an agent renews its certificate in time, repeatedly, without interrupting work or streams", async () => {
  await pki.issue("n1", "--kind", "agent", "--lifetime", LIFETIME);
  agent("n1", "--feature", "steady");
  await nodeIs("n1", true);
  const work = ["--constraint", "steady", "--", "/bin/sh", "-c", "while :; do date +%s%N; sleep 0.2; done"];
  const id = (await good("submit", "-q", ...work)).trim();
  const follower = spawnCli(["logs", "--follow", id], {
    env: {
      LATTICE_API_URL: `https://${server.rest.replace("127.0.0.1", "localhost")}`,
      LATTICE_CA: pki.path("ca.crt"),
      HOME: dir,
    },
  });
  let shown = "";
  follower.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const given = new X509Certificate(readFileSync(pki.path("n1.crt")));
  const first = await renewedAfter("n1", given.serialNumber);
  expect(first.subject).toBe(given.subject);
  expect(first.subjectAltName).toContain(`${given.subjectAltName}, `);
  expect(Date.parse(first.validFrom)).toBeLessThan(Date.parse(given.validTo));
  await renewedAfter("n1", first.serialNumber);
  // By now the stream's first certificate has expired, or is about to.
  await eventually({ what: "the first certificate has ended" }, () =>
    Date.now() > Date.parse(given.validTo) ? true : null,
  );
  const seen = shown.split("\n").length;
  await eventually({ what: "the stream continues" }, () => (shown.split("\n").length > seen + 3 ? true : null));
  await nodeIs("n1", true);
  expect(await good("status", id, "-o", "json")).toContain('"running"');
  follower.kill();
  await good("cancel", id);
  expect(await metric(/^lattice_agent_certificates_total\{result="issued"\} (\d+)/m)).toBeGreaterThanOrEqual(2);
  await eventually({ what: "the metric has the earliest expiry of the agents' certificates" }, async () => {
    const ends = ["n1", "n2"].map((node) => Date.parse(kept(node)?.validTo ?? ""));
    const output = await metric(/^lattice_agent_certificate_end_timestamp_seconds (\S+)/m);
    return output * 1_000 === Math.min(...ends) ? true : null;
  });
});

test.concurrent("a restarted agent uses its stored certificate after its bootstrap certificate has expired", async () => {
  await pki.issue("n2", "--kind", "agent", "--lifetime", LIFETIME);
  const given = new X509Certificate(readFileSync(pki.path("n2.crt")));
  const first = agent("n2");
  const next = await renewedAfter("n2", given.serialNumber);
  // Its stored pair has its full lifetime left, which a slow machine may need.
  await renewedAfter("n2", next.serialNumber);
  await eventually({ what: "what it was given has ended" }, () =>
    Date.now() > Date.parse(given.validTo) ? true : null,
  );
  await first.kill();
  await nodeIs("n2", false);
  agent("n2");
  await nodeIs("n2", true);
});

test("an agent with a revoked certificate is refused and cannot renew", async () => {
  await pki.run("revoke", "n2");
  process.kill(server.program.pid, "SIGHUP");
  await nodeIs("n2", false);
  const last = kept("n2")?.serialNumber;
  const refusals = () => metric(/^lattice_agents_refused_total (\d+)/m);
  const before = await refusals();
  await eventually({ what: "it is refused again" }, async () => ((await refusals()) > before + 1 ? true : null));
  expect(kept("n2")?.serialNumber).toBe(last);
  await nodeIs("n1", true);
});
