// Certificates of the cluster's authority in the wrong place (findings 13 and 20 of the review): that of an agent made its
// holder a member of etcd, and any SPIFFE name whose last part was the name of a node made its workload this node's agent.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { useAccount } from "./accounts.ts";

const mallory = useAccount("m");
const dir = mkdtempSync(join(tmpdir(), "lattice-attack-certificates-"));
const [rest = 0, grpc = 0, client = 0, peer = 0] = await freePorts(4);
let pki: TestPki;

beforeAll(async () => {
  pki = await makePki(join(dir, "pki"));
  await pki.issue("s1", ...SERVER_FLAGS);
  await pki.issue("n1", "--kind", "agent");
  const tls = { ca: pki.path("ca.crt"), cert: pki.path("s1.crt"), key: pki.path("s1.key") };
  const listen = { client_listen: `${HOST}:${client}`, peer_address: `${HOST}:${peer}` };
  const config = join(dir, "server.json");
  const settings = {
    server: { id: "s1", data_dir: join(dir, "server") },
    quorum: { engine: "etcd", node_id: 1, etcd: { managed: true, ...listen, tls } },
    api: {
      ...{ rest_listen: `${HOST}:${rest}`, grpc_listen: `${HOST}:${grpc}` },
      ...{ tls_cert: tls.cert, tls_key: tls.key, tls_ca: tls.ca },
    },
  };
  writeFileSync(config, JSON.stringify(settings));
  const args = ["--config", config, "--bootstrap"];
  await startProgram("lattice-server", { args, logFile: join(dir, "server.log") }).ready();
});
afterAll(async () => {
  await endProcessesIn(dir);
  rmSync(dir, { recursive: true, force: true, maxRetries: 9 });
});

const stolen: string[] = [];
afterAll(() => {
  for (const folder of stolen) rmSync(folder, { recursive: true, force: true });
});

/** Gives a certificate with its key to the attacker. */
function steal(name: string): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(`/var/tmp/lattice-attack-${name}-`);
  stolen.push(folder);
  const [cert, key, ca] = ["crt", "key", "ca"].map((ending) => join(folder, `stolen.${ending}`)) as [
    string,
    string,
    string,
  ];
  copyFileSync(pki.path(`${name}.crt`), cert);
  copyFileSync(pki.path(`${name}.key`), key);
  copyFileSync(pki.path("ca.crt"), ca);
  execFileSync("chown", ["-R", mallory.name, folder]);
  return { cert, key };
}

const ASK = `import ssl, sys, urllib.request
context = ssl._create_unverified_context()
if sys.argv[1]: context.load_cert_chain(sys.argv[1], sys.argv[2])
for address in (sys.argv[3] + "/version", sys.argv[4] + "/members"):
    try: print("answer", urllib.request.urlopen("https://" + address, None, 10, context=context).read()[:40])
    except Exception as error: print("refused", type(error).__name__)
`;
const asked = (cert: string, key: string, run: (script: string) => string): string[] =>
  run(`/usr/bin/python3 -c '${ASK}' '${cert}' '${key}' ${HOST}:${client} ${HOST}:${peer}`)
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");

test("the certificate of an agent, or none, is answered neither by etcd nor by its member", () => {
  const { cert, key } = steal("n1");
  expect(asked(cert, key, mallory.run)).toEqual(["refused", "refused"]);
  expect(asked("", "", mallory.run)).toEqual(["refused", "refused"]);
  const asRoot = (script: string): string => execFileSync("/bin/sh", ["-ec", script], { encoding: "utf8" });
  expect(asked(pki.path("s1.crt"), pki.path("s1.key"), asRoot)).toEqual(["answer", "answer"]);
});

/** A certificate of the same authority, as SPIRE issues them to every workload. */
function issueWorkload(name: string, uri: string): void {
  const [key, request, cert, names] = ["key", "csr", "crt", "ext"].map((ending) => pki.path(`${name}.${ending}`)) as [
    ...[string, string, string, string],
  ];
  writeFileSync(names, `subjectAltName=URI:${uri}\nextendedKeyUsage=clientAuth\n`);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", ...curve, "-keyout", key, "-out", request, "-subj", "/CN=workload"], {
    stdio: "pipe",
  });
  const authority = ["-CA", pki.path("ca.crt"), "-CAkey", pki.path("ca.key"), "-CAcreateserial"];
  const how = ["x509", "-req", "-in", request, "-out", cert, ...authority, "-extfile", names, "-days", "2"];
  execFileSync("openssl", how, { stdio: "pipe" });
}

function startAgent(shown: string, logFile: string): Program {
  const identity = [
    ...["--bootstrap-cert", pki.path(`${shown}.crt`), "--bootstrap-key", pki.path(`${shown}.key`)],
    ...["--bootstrap-ca", pki.path("ca.crt"), "--metrics-listen", "none", "--data-dir", join(dir, `agent-${shown}`)],
  ];
  const args = ["--node-id", "n1", "--server", `https://${HOST}:${grpc}`, ...identity];
  return startProgram("lattice-agent", { args, logFile, env: { LATTICE_SPIRE_SOCKET: join(dir, "no.sock") } });
}

const nodes = async (): Promise<string> => {
  const env = { LATTICE_API_URL: `https://${HOST}:${rest}`, LATTICE_CA: pki.path("ca.crt"), HOME: dir };
  return (await runCli(["nodes", "-o", "json"], { env })).stdout;
};

test("a workload is not the agent of the node that its SPIFFE name ends with", async () => {
  for (const [name, uri] of [
    ["workload", "spiffe://test/ns/batch/sa/n1"],
    ["server", "spiffe://test/server/n1"],
  ] as const) {
    issueWorkload(name, uri);
    const logFile = join(dir, `agent-${name}.log`);
    const agent = startAgent(name, logFile);
    await eventually({ what: "its agent is refused" }, async () =>
      /that of no kind of bearer, not of an agent|that of a server, not of an agent/.test(readFileSync(logFile, "utf8"))
        ? true
        : null,
    );
    expect(await nodes()).not.toContain('"n1"');
    await agent.kill();
  }
  issueWorkload("agent", "spiffe://test/agent/n1");
  startAgent("agent", join(dir, "agent.log"));
  await eventually({ what: "the agent is welcome" }, async () => ((await nodes()).includes('"n1"') ? true : null));
});
