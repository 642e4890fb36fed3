// Configuration: the example files load, and everything wrong is refused with its path.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, isLoopback, loadConfig, parseListen } from "../../../src/base/config/index.ts";
import { logConfigOf } from "../../../src/log/log-config.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-config-"));
afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));

const example = (name: string) => fileURLToPath(new URL(`../../../../../config/${name}`, import.meta.url));

function problemsOf(yaml: string): string[] {
  const path = join(dir, "config.yaml");
  writeFileSync(path, yaml);
  try {
    loadConfig(path);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((p) => `${p.path}: ${p.message}`);
    throw error;
  }
  throw new Error("the configuration was accepted");
}

describe("the example configurations", () => {
  test("minimal.yaml loads, with every default filled in", () => {
    const config = loadConfig(example("minimal.yaml"));
    expect(config.quorum.engine).toBe("embedded");
    expect(config.nodeAgent).toMatchObject({
      heartbeatInterval: 10_000,
      heartbeatTimeout: 30_000,
      gracePeriod: 60_000,
    });
    expect(config.api.autoCreateTenants).toBe(false);
  });

  test("production.yaml loads and refuses conveniences", () => {
    const config = loadConfig(example("production.yaml"));
    expect(config.server.production).toBe(true);
    expect(config.api.autoCreateTenants).toBe(false);
    expect(config.retention.maxFinishedAge).toBe(7 * 86_400_000);
  });
});

test("flags override the file, and flags that were not given do not", () => {
  const config = loadConfig(example("production.yaml"), {
    api: { rest_listen: "127.0.0.1:0", grpc_listen: undefined },
    log: { level: "debug" },
  });
  expect(config.api.restListen).toEqual({ host: "127.0.0.1", port: 0 });
  expect(config.api.grpcListen.port).toBe(50_051);
  expect(config.log.level).toBe("debug");
});

test("the configuration is frozen to its depth", () => {
  const config = loadConfig(null);
  expect(Object.isFrozen(config)).toBe(true);
  expect(Object.isFrozen(config.api.restListen)).toBe(true);
  expect(() => Object.assign(config.log, { level: "trace" })).toThrow(TypeError);
});

describe("the quorum", () => {
  const load = (yaml: string) => {
    const path = join(dir, "quorum.yaml");
    writeFileSync(path, yaml);
    return loadConfig(path);
  };

  test("an existing etcd cluster", () => {
    const config = load(`
server: { id: lattice-02, data_dir: ${dir} }
quorum:
  engine: etcd
  etcd: { endpoints: ["https://etcd-1:2379", "etcd-2:2379"], prefix: /lattice/alps, lease_seconds: 3 }`);
    expect(logConfigOf(config, "resume", () => undefined)).toMatchObject({
      engine: "etcd",
      endpoints: ["https://etcd-1:2379", "etcd-2:2379"],
      prefix: "/lattice/alps",
      name: "lattice-02",
      leaseSeconds: 3,
      tls: null,
      managed: null,
    });
  });

  const managed = `
server: { data_dir: ${dir} }
quorum:
  engine: etcd
  node_id: 2
  peers: [{ id: 3, address: "127.0.0.13:9000" }, { id: 1, address: "127.0.0.11:9000" }, { id: 2, address: "127.0.0.12:9000" }]
  etcd: { managed: true }`;

  test("a managed member has its address from the peers", () => {
    const config = logConfigOf(load(managed), "bootstrap_together", () => undefined);
    expect(config).toMatchObject({
      name: "server-2",
      managed: {
        name: "lattice-2",
        peer: "127.0.0.12:9000",
        dir: join(dir, "log", "etcd"),
        clientListen: "127.0.0.1:2379",
        begin: {
          kind: "bootstrap",
          members: [
            { name: "lattice-2", peer: "127.0.0.12:9000" },
            { name: "lattice-1", peer: "127.0.0.11:9000" },
            { name: "lattice-3", peer: "127.0.0.13:9000" },
          ],
        },
      },
    });
  });

  test("a cluster can start with one member, and a server can join one", () => {
    const alone = logConfigOf(load(managed), "bootstrap", () => undefined);
    expect(alone).toMatchObject({ managed: { begin: { members: [{ name: "lattice-2", peer: "127.0.0.12:9000" }] } } });
    const joining = logConfigOf(load(managed), { join: ["a:2379"] }, () => undefined);
    expect(joining).toMatchObject({ managed: { begin: { kind: "join", endpoints: ["a:2379"] } } });
  });

  test("certificates are read, and a missing one is reported", () => {
    for (const name of ["ca", "cert", "key"]) writeFileSync(join(dir, `${name}.pem`), name);
    const yaml = (key: string) => `
quorum:
  engine: etcd
  etcd: { managed: true, tls: { ca: ${dir}/ca.pem, cert: ${dir}/cert.pem, key: ${dir}/${key}.pem } }`;
    expect(logConfigOf(load(yaml("key")), "resume", () => undefined)).toMatchObject({
      tls: { ca: "ca", cert: "cert", key: "key" },
      managed: { tls: { files: { ca: join(dir, "ca.pem"), memberName: "etcd.lattice.internal" } } },
    });
    const ownNames = (name: string) => load(yaml("key").replace(" } }", `, member_name: ${name} } }`));
    expect(ownNames("null").quorum.etcd.tls?.memberName).toBeNull();
    expect(ownNames("quorum.example.org").quorum.etcd.tls?.memberName).toBe("quorum.example.org");
    expect(() => logConfigOf(load(yaml("none")), "resume", () => undefined)).toThrow(
      /quorum\.etcd\.tls\.key .*none\.pem/,
    );
  });
});

describe("refusals", () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ["an unknown section", "sever: {}", ["sever: is not a known key; did you mean server?"]],
    ["an unknown key", "api: { rest_lisen: a }", ["api.rest_lisen: is not a known key; did you mean rest_listen?"]],
    ["a duration without unit", "node_agent: { grace_period: 10 }", ["node_agent.grace_period: is not a duration"]],
    ["an address without host", 'api: { rest_listen: ":8080" }', ["api.rest_listen: is not an address"]],
    ["etcd that is nowhere", "quorum: { engine: etcd }", ["quorum.etcd: must name endpoints, or be managed"]],
    ["an unknown engine", "quorum: { engine: zookeeper }", ["quorum.engine: must be embedded, memory or etcd"]],
    [
      "an endpoint that is none",
      "quorum: { engine: etcd, etcd: { endpoints: [nowhere] } }",
      ["quorum.etcd.endpoints.0: is not an endpoint"],
    ],
    [
      "a peer without port",
      "quorum: { peers: [{ id: 2, address: 'a:9000' }, { id: 3, address: b }] }",
      ["quorum.peers.1.address: is not an address"],
    ],
    [
      "an id twice",
      "quorum: { peers: [{ id: 2, address: 'a:1' }, { id: 2, address: 'b:1' }] }",
      ["quorum.peers: must"],
    ],
    [
      "a managed member that others cannot reach",
      "quorum: { engine: etcd, etcd: { managed: true }, peers: [{ id: 2, address: '127.0.0.2:9000' }] }",
      ["quorum.etcd.peer_address: is required"],
    ],
    [
      "an open door to the log",
      "quorum: { engine: etcd, etcd: { managed: true, client_listen: '0.0.0.0:2379' } }",
      ["quorum.etcd.client_listen: must be on loopback"],
    ],
    [
      "members that any host may join",
      "quorum: { engine: etcd, etcd: { managed: true, peer_address: 'lattice-01:9000' } }",
      ["quorum.etcd.tls: is required"],
    ],
    [
      "a member that listens for any host",
      "quorum: { engine: etcd, etcd: { managed: true, peer_listen: '0.0.0.0:9000' } }",
      ["quorum.etcd.tls: is required"],
    ],
    [
      "a certificate without its key",
      "quorum: { engine: etcd, etcd: { endpoints: ['a:1'], tls: { ca: a, cert: b } } }",
      ["quorum.etcd.tls: must have both cert and key"],
    ],
    [
      "a lease that etcd does not give",
      "quorum: { etcd: { lease_seconds: 1 } }",
      ["quorum.etcd.lease_seconds: must be a whole number from 2 to 60"],
    ],
    ["a negative count", "retention: { max_finished: -1 }", ["retention.max_finished: must be a whole number from 0"]],
    ["a huge count", "retention: { max_finished: 1e30 }", ["retention.max_finished: must be a whole number"]],
    [
      "a text where a number belongs",
      'quorum: { node_id: "1" }',
      ["quorum.node_id: must be a whole number from 1 to 1000"],
    ],
    ["an unknown log level", "log: { level: loud }", ["log.level: must be one of"]],
    ["an id with other characters", "server: { id: '$' }", ["server.id: must be letters"]],
    ["a list", "- 1", [": "]],
    ["a key written twice", "log: {level: info}\nlog: {level: debug}", [": line 2"]],
    ["broken YAML", "server: [", [": line 1"]],
    [
      "a timeout below the interval",
      "node_agent: { heartbeat_interval: 10s, heartbeat_timeout: 5s }",
      ["node_agent.heartbeat_timeout: must be longer"],
    ],
    [
      "conveniences in production",
      "server: { production: true }\napi: { auto_create_tenants: true }\nquorum: { engine: memory }",
      ["api.auto_create_tenants: must not be true", "quorum.engine: must not be memory"],
    ],
  ];
  test.each(cases)("%s", (_name, yaml, expected) => {
    const problems = problemsOf(yaml);
    expect(problems).toHaveLength(expected.length);
    for (const [i, start] of expected.entries()) expect(problems[i]).toContain(start);
  });

  test("a missing file is refused", () => {
    expect(() => loadConfig(join(dir, "missing.yaml"))).toThrow(/missing\.yaml is not usable:\n {2}cannot be read/);
  });

  test("all problems are reported at once", () => {
    expect(problemsOf("log: { level: loud }\nquorum: { node_id: 0 }\nnope: 1")).toHaveLength(3);
  });
});

describe("addresses", () => {
  test.each([
    ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["localhost:1", { host: "localhost", port: 1 }],
    ["127.0.0.1:65536", null],
    ["127.0.0.1", null],
    ["[nonsense]:1", null],
    ["::1:80", null],
  ])("%s", (text, expected) => expect(parseListen(text)).toEqual(expected));

  test.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["localhost", true],
    ["::1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.168.1.1", false],
    ["example.org", false],
  ])("%s is loopback: %s", (host, expected) => expect(isLoopback(host)).toBe(expected));
});
