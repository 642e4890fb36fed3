// A rolling update of a real service on three nodes: endpoints exist throughout, the update waits for the new
// program's probe, and every node runs it once; a bad update halts without changing the service, whether its program
// exits or never answers.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { peerProcess } from "../harness/peer-process.ts";
import { useCluster } from "../harness/use-cluster.ts";

// All nodes are one machine here: one server answers the probes of all.
let status = 204;
/** The nodes whose probes are answered. */
let answered: readonly string[] | null = null;
/** Number of probes so far. */
let asked = 0;
const door = createServer(({ socket }, response) => {
  asked += 1;
  const pids = answered?.map((node) => cluster.agent(node).pid);
  const well = pids === undefined || peerProcess(socket, pids) !== null;
  response.writeHead(well ? status : 503).end();
});
await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
afterAll(() => door.close());

const cluster = useCluster({ nodes: 4, config: "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 60s }\n" });

type Service = Awaited<ReturnType<typeof cluster.allocation>> & {
  readonly scaling?: { readonly outdated_nodes?: number };
};
interface Answer {
  readonly events: readonly { readonly kind: string; readonly text: string }[];
}

const endpoints = async (): Promise<number> =>
  (await cluster.api<{ endpoints?: unknown[] }>("GET", "/services/api")).body.endpoints?.length ?? 0;

async function renewed(id: string): Promise<Service | null> {
  const record = (await cluster.allocation(id)) as Service;
  return record.nodes?.length === 3 && (record.scaling?.outdated_nodes ?? 0) === 0 ? record : null;
}

/** Enough activity for something to go wrong, measured by events rather than time. */
async function roundsOfProbes(rounds: number): Promise<void> {
  const until = asked + rounds * cluster.nodeIds.length;
  await eventually({ what: "all nodes have probed again and again" }, async () => (asked >= until ? true : null));
}

/** So patient that time alone never decides. */
const PROBE = { probe_type: "http", path: "/", period_secs: 1, initial_delay_secs: 1, failure_threshold: 100 };

test("a service on three nodes is updated without a gap, and a bad update changes nothing", async () => {
  const served = cluster.file("served");
  const program = (name: string) => `echo "${name} $LATTICE_NODE" >> ${served}; exec sleep 600`;
  const lines = (name: string): readonly string[] =>
    existsSync(served)
      ? readFileSync(served, "utf8")
          .split("\n")
          .filter((line) => line.startsWith(`${name} `))
      : [];
  const { port } = door.address() as AddressInfo;
  const id = await cluster.submit({
    entrypoint: program("v1"),
    nodes: 3,
    lifecycle: { type: "unbounded" },
    expose: [{ name: "api", port: 8081 }],
    liveness_probe: { ...PROBE, port },
  });
  await cluster.reaches(id, ["running"]);
  expect(await endpoints()).toBe(3);

  // While the new program does not answer, no old one is released.
  status = 503;
  expect((await cluster.cli(["update", id, `--entrypoint=${program("v2")}`])).stdout).toMatch(/3 of its nodes/);
  await eventually({ what: "the new program runs on one node" }, async () => (lines("v2").length === 1 ? true : null));
  await roundsOfProbes(3);
  expect(((await cluster.allocation(id)) as Service).scaling?.outdated_nodes).toBe(3);
  await eventually({ what: "the new one is an endpoint as well" }, async () =>
    (await endpoints()) === 4 ? true : null,
  );

  status = 204;
  let least = Number.POSITIVE_INFINITY;
  await eventually({ what: "every node runs the new program", everyMs: 50 }, async () => {
    least = Math.min(least, await endpoints());
    return renewed(id);
  });
  expect(least).toBeGreaterThanOrEqual(2);
  const nodes = (await cluster.allocation(id)).nodes ?? [];
  await eventually({ what: "each has started it" }, async () => (lines("v2").length >= 3 ? true : null));
  expect(lines("v2").toSorted()).toEqual(nodes.map((node) => `v2 ${node}`).toSorted());

  const bad = `echo "bad $LATTICE_NODE" >> ${served}; exit 3`;
  expect((await cluster.cli(["update", id, `--entrypoint=${bad}`])).code).toBe(0);
  let fewest = Number.POSITIVE_INFINITY;
  await eventually({ what: "the update is halted", everyMs: 50 }, async () => {
    fewest = Math.min(fewest, await endpoints());
    const { stdout } = await cluster.cli(["notices"]);
    return stdout.includes(`the update of service ${id} is halted`) ? true : null;
  });
  expect(fewest).toBe(3);
  expect(await cluster.allocation(id)).toMatchObject({ state: "running", nodes, requeues: 0 });
  const { events } = (await cluster.api<Answer>("GET", `/allocations/${id}/events?types=failure`)).body;
  expect(events.map(({ kind }) => kind)).toEqual(["renewal_halted"]);
  expect(events[0]?.text).toMatch(/the new program failed \(exit code 3\)/);
  await roundsOfProbes(3);
  expect(lines("bad")).toHaveLength(1);

  const probe = `--probe=tcp:${port},period=1,delay=1,failures=100`;
  expect((await cluster.cli(["update", id, `--entrypoint=${program("v3")}`, probe])).code).toBe(0);
  await eventually({ what: "a better update goes through" }, async () => renewed(id));
  expect((await cluster.allocation(id)).spec).toMatchObject({ liveness_probe: { probe_type: "tcp", port } });
  const refused = await cluster.cli(["update", id, "--probe=ftp:1"]);
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining("tcp:8080 or http:8080/path")]);
  expect((await cluster.cli(["notices"])).stdout).not.toContain("is halted");
  await cluster.cli(["cancel", id]);
});

test("an update whose program never passes its probe halts with a notice", async () => {
  const started = cluster.file("started");
  const program = (name: string) => `echo "${name} $LATTICE_NODE" >> ${started}; exec sleep 600`;
  const { port } = door.address() as AddressInfo;
  const id = await cluster.submit({
    entrypoint: program("old"),
    nodes: 3,
    lifecycle: { type: "unbounded" },
    // Answered probes have all the time a slow machine needs.
    liveness_probe: { ...PROBE, port, failure_threshold: 4, timeout_secs: 30 },
  });
  const { nodes = [] } = await cluster.reaches(id, ["running"]);
  expect(nodes).toHaveLength(3);
  const other = cluster.nodeIds.find((node) => !nodes.includes(node)) ?? "";
  const lines = (name: string): readonly string[] =>
    existsSync(started)
      ? readFileSync(started, "utf8")
          .split("\n")
          .filter((line) => line.startsWith(name))
      : [];
  await eventually({ what: "it runs everywhere, and the node beside it is free" }, async () =>
    lines("old").length === 3 && ((await cluster.node(other)).claims ?? []).length === 0 ? true : null,
  );
  answered = nodes;
  expect((await cluster.cli(["update", id, `--entrypoint=${program("mute")}`])).code).toBe(0);
  await eventually({ what: "the update is halted" }, async () => {
    const { stdout } = await cluster.cli(["notices"]);
    return stdout.includes(`the update of service ${id} is halted: the new program failed on`) ? true : null;
  });
  expect(await cluster.allocation(id)).toMatchObject({ state: "running", nodes, requeues: 0 });
  expect(lines("old").toSorted(), "none was restarted").toEqual(nodes.map((node) => `old ${node}`).toSorted());
  expect(nodes.filter((node) => lines("mute").includes(`mute ${node}`))).toEqual([]);
  const { events } = (await cluster.api<Answer>("GET", `/allocations/${id}/events?types=failure`)).body;
  expect(events.map(({ kind }) => kind)).toEqual(["renewal_halted"]);
  expect(events[0]?.text).toContain(`on ${other} the new program failed (probe failed`);
  const shown = (await cluster.cli(["status", id, "--verbose"])).stdout;
  expect(shown).toContain("The update is halted");
  await cluster.cli(["cancel", id]);
});
