// Attacks on the control plane by an ordinary user of its machine (findings 13, 17 and 22): the keys of etcd, a flood of
// refused looks at the work of others, and the metrics of all tenants.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProgram, tailOf } from "../harness/program.ts";
import { freePorts } from "../harness/quorum.ts";
import { useAccount } from "./accounts.ts";
import { useSecuredCluster } from "./secured-cluster.ts";

const [client = 0, peer = 0, other = 0, otherPeer = 0] = await freePorts(4);
const mallory = useAccount("m");
const etcd = (clientPort: number, peerAddress: string): string => `quorum:
  engine: etcd
  etcd: { managed: true, client_listen: "127.0.0.1:${clientPort}", peer_address: "${peerAddress}" }
`;
const secured = useSecuredCluster({
  serverArgs: ["--bootstrap"],
  api: "metrics_access: token",
  config: etcd(client, `127.0.0.1:${peer}`),
});

/** Asks for three keys, as a program without a certificate of the server can. */
const ASK = `import json, ssl, sys, urllib.request
context = ssl._create_unverified_context()
body = json.dumps({"key": "AA==", "range_end": "AA==", "limit": 3}).encode()
for scheme in ("http", "https"):
    for port in sys.argv[1:]:
        try: print(urllib.request.urlopen(scheme + "://127.0.0.1:" + port + "/v3/kv/range", body, 10, context=context).read())
        except Exception as error: print(scheme, port, "refused", type(error).__name__)
`;

test("a user of the server's machine reads no key of etcd", () => {
  const said = mallory.run(`/usr/bin/python3 -c '${ASK}' ${client} ${peer}`).trim().split("\n");
  expect(said).toHaveLength(4);
  for (const line of said) expect(line).toMatch(/^https? \d+ refused/);
});

test("a server with members beyond loopback does not start without TLS between them", async () => {
  const logFile = join(secured.cluster.dir, "refusing.log");
  const config = join(secured.cluster.dir, "beyond.yaml");
  writeFileSync(config, etcd(other, `192.0.2.7:${otherPeer}`));
  const args = ["--config", config, "--data-dir", join(secured.cluster.dir, "beyond"), "--bootstrap"];
  const listen = ["--rest-listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0"];
  const server = startProgram("lattice-server", { args: [...args, ...listen], logFile });
  expect(await server.ended).not.toBe(0);
  expect(tailOf(logFile, 20)).toContain("without TLS any host may replace the log");
});

const metricsBy = async (headers: Readonly<Record<string, string>>): Promise<number> =>
  (await fetch(`${secured.cluster.apiUrl}/metrics`, { headers })).status;
const bearer = async (...flags: string[]) => ({ authorization: `Bearer ${await secured.token(...flags)}` });

test("a user does not read the metrics of all tenants", async () => {
  expect(await metricsBy({})).toBe(401);
  expect(await metricsBy(await bearer("--user", mallory.name, "--tenant", "default"))).toBe(403);
  expect(await metricsBy(await bearer("--user", "root", "--scope", "admin"))).toBe(200);
});

test("a hundred refused looks at sensitive work are two records of the audit log at most", async () => {
  const root = ["--scope", "admin"];
  await secured.as("root", ["admin", "vcluster", "create", "clinic", "--scheduler", "sensitive-reservation"], root);
  const submit = ["submit", "-q", "--hold", "--vcluster", "clinic", "--", "/bin/true"];
  const held = await secured.as("dr-x", submit, ["--tenant", "default", "--scope", "sensitive:claim"]);
  expect(held.code, held.stderr).toBe(0);
  const id = held.stdout.trim();
  const headers = await bearer("--user", "other", "--tenant", "default", "--scope", "admin");
  const look = () => fetch(`${secured.cluster.apiUrl}/api/v1/allocations/${id}/logs`, { headers });
  // More at once are refused by the limit on streams.
  for (let round = 0; round < 10; round += 1) {
    for (const { status } of await Promise.all(Array.from({ length: 10 }, look))) expect(status).toBe(403);
  }
  const query = ["audit", "query", "--scope", "sensitive", "--alloc", id, "-o", "json"];
  const { stdout } = await secured.as("root", query, root);
  const { records } = JSON.parse(stdout) as { records: { user: string; event_type: string }[] };
  const refused = records.filter((one) => one.event_type === "sensitive.refused" && one.user === "other");
  expect(refused.length).toBeGreaterThanOrEqual(1);
  expect(refused.length).toBeLessThanOrEqual(2);
});
