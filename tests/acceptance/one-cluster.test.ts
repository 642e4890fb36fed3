// There is one cluster: a member that lost its data, servers that start together, and a server or an agent of another
// cluster never become a second one, and never end work of the first.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Cluster } from "../harness/cluster.ts";
import { eventually, sleep } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { kill } from "../harness/processes.ts";
import { startProgram } from "../harness/program.ts";
import { freePorts, Quorum } from "../harness/quorum.ts";

describe("a member whose etcd data is removed while its server runs", () => {
  let quorum: Quorum;
  beforeAll(async () => {
    quorum = await Quorum.start({ servers: 3, nodes: 1, spares: 1, leaseSeconds: 6 });
  });
  afterAll(() => quorum?.close());

  test("does not start another cluster, and is replaced by the command that it names", async () => {
    const leader = await quorum.leader();
    const lost = (leader % 3) + 1;
    const running = await quorum.submit(leader, { entrypoint: "sleep 600", nodes: 1 });
    await quorum.reaches(leader, running, "running");

    const server = quorum.server(lost);
    // A member that starts again between the two would run on removed files.
    kill(quorum.etcdPid(lost), "SIGSTOP");
    rmSync(join(quorum.dir, `server-${lost}`, "log", "etcd", "data"), { recursive: true, force: true, maxRetries: 9 });
    kill(quorum.etcdPid(lost), "SIGKILL");
    expect(await server.ended).not.toBe(0);
    expect(readFileSync(server.logFile, "utf8")).toContain("Start this server once with --join ADDRESS --replace");

    // As a service manager would, also with --bootstrap.
    for (const how of [[], ["--bootstrap"]]) {
      await expect(quorum.startServer(lost, how)).rejects.toThrow();
      expect(readFileSync(server.logFile, "utf8")).toContain("is not started again");
    }
    expect(await quorum.state(leader, running)).toBe("running");

    await expect(quorum.startServer(lost, ["--join", quorum.grpc(leader)])).rejects.toThrow();
    expect(readFileSync(server.logFile, "utf8")).toContain("join again with --replace");
    await quorum.startServer(lost, ["--join", quorum.grpc(leader), "--replace"]);
    expect(await quorum.state(lost, running)).toBe("running");
    const { stdout } = await quorum.cli(leader, "admin", "raft", "status", "-o", "json");
    expect((JSON.parse(stdout) as { members: unknown[] }).members).toHaveLength(3);
  });

  test("a server of another cluster without its etcd data is refused before it becomes a member", async () => {
    const leader = await quorum.leader();
    const members = async () =>
      (await quorum.cli(leader, "admin", "raft", "status", "-o", "json")).stdout.split("etcd");
    const before = (await members()).length;
    const folder = join(quorum.dir, "server-4");
    mkdirSync(folder);
    const own = { id: "f".repeat(32), generation: 1, former: [] };
    writeFileSync(join(folder, "cluster.json"), JSON.stringify(own));
    for (const address of [quorum.grpc(leader), quorum.url(leader)]) {
      await expect(quorum.startServer(4, ["--join", address])).rejects.toThrow();
      const { logFile } = quorum.server(4);
      expect(readFileSync(logFile, "utf8")).toContain(`server-4 belongs to cluster ${own.id}`);
      rmSync(logFile);
    }
    expect((await members()).length).toBe(before);
    const page = await (await fetch(`${quorum.url(leader)}/metrics`)).text();
    expect(page).toMatch(/lattice_foreign_cluster_refused_total\{peer="server"\} [1-9]/);
    expect((await quorum.cli(leader, "notices")).stdout).toContain(`server-4 belongs to cluster ${own.id}`);
    rmSync(folder, { recursive: true });
  });
});

test("three servers that bootstrap with the same peers form one cluster", async () => {
  const quorum = await Quorum.start({ servers: 0, nodes: 0, spares: 3 });
  try {
    const peers = [1, 2, 3].map((n) => ({ id: n, address: quorum.etcdPeer(n) }));
    quorum.configure({ quorum: { peers } });
    await Promise.all([1, 2, 3].map((n) => quorum.startServer(n, ["--bootstrap"])));
    const id = await quorum.submit(1, { entrypoint: "true" });
    for (const n of [1, 2, 3])
      await eventually({ what: `server ${n} has the submission` }, async () =>
        (await quorum.state(n, id)) === "pending" ? true : null,
      );
    const { stdout } = await quorum.cli(2, "admin", "raft", "status", "-o", "json");
    expect((JSON.parse(stdout) as { members: unknown[] }).members).toHaveLength(3);
  } finally {
    await quorum.close();
  }
});

describe("an agent with running work", () => {
  const [own, other] = [new Cluster({ nodes: 1 }), new Cluster({ nodes: 0 })];
  beforeAll(async () => {
    await own.start();
    await other.startServer();
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") own.printLogs();
  });
  afterAll(async () => {
    await own.close();
    await other.close();
  });

  test("refuses a server of another cluster, which refuses it as well and raises a notice", async () => {
    const mark = join(own.dir, "ticks");
    const id = await own.submit({ entrypoint: `while :; do echo x >>${mark}; sleep 0.1; done` });
    await own.reaches(id, ["running"]);
    await own.agent("node-1").kill();
    const args = ["--node-id", "node-1", "--data-dir", own.file("agent-node-1"), "--metrics-listen", "none"];
    const logFile = join(own.dir, "foreign-agent.log");
    const agent = startProgram("lattice-agent", { args: [...args, "--server", other.grpcAddress], logFile });
    await eventually({ what: "the agent is refused" }, () =>
      readFileSync(logFile, "utf8").includes("foreign_cluster") ? true : null,
    );
    const ticks = readFileSync(mark, "utf8").length;
    await sleep(1_000);
    expect(readFileSync(mark, "utf8").length).toBeGreaterThan(ticks);
    const { stdout } = await other.cli(["notices"]);
    expect(stdout).toContain("foreign cluster:");
    expect((await other.api<{ nodes: unknown[] }>("GET", "/nodes")).body.nodes).toEqual([]);
    const page = await (await fetch(`${other.apiUrl}/metrics`)).text();
    expect(page).toMatch(/lattice_foreign_cluster_refused_total\{peer="agent"\} [1-9]/);
    await agent.stop();
    other.startAgent("node-1");
    await eventually({ what: "the notice is cleared once an agent of the cluster serves the node" }, async () =>
      (await other.cli(["notices"])).stdout.includes("foreign cluster:") ? null : true,
    );
    await other.agent("node-1").stop();
    own.startAgent("node-1");
    await own.cli(["cancel", id]);
    expect((await own.ends(id)).state).toBe("cancelled");
  });
});

test("an agent refuses a server on an older copy of its data, which shows what it has lost", async () => {
  const cluster = new Cluster({ nodes: 1, config: 'node_agent: { heartbeat_interval: "500ms" }' });
  const missing = async () =>
    Number(/^lattice_log_missing_entries (\d+)$/m.exec(await (await fetch(`${cluster.apiUrl}/metrics`)).text())?.[1]);
  try {
    await cluster.start();
    await cluster.server.stop();
    cpSync(cluster.serverDataDir, cluster.file("older"), { recursive: true });
    await cluster.startServer();
    await cluster.nodesReady();
    const mark = cluster.file("ticks");
    // So many entries that the older copy cannot add as many of its own.
    for (let n = 0; n < 40; n += 1) await cluster.submit({ entrypoint: "true", nodes: 50 });
    const id = await cluster.submit({ entrypoint: `while :; do echo x >>${mark}; sleep 0.1; done` });
    await cluster.reaches(id, ["running"]);
    await cluster.server.stop();
    renameSync(cluster.serverDataDir, cluster.file("newer"));
    renameSync(cluster.file("older"), cluster.serverDataDir);
    await cluster.startServer();
    await eventually({ what: "the metric counts entries" }, async () => ((await missing()) > 0 ? true : null));
    expect(readFileSync(cluster.server.logFile, "utf8")).toContain("has lost entries of the log that agents know");
    const ticks = readFileSync(mark, "utf8").length;
    await cluster.server.stop();
    rmSync(cluster.serverDataDir, { recursive: true });
    renameSync(cluster.file("newer"), cluster.serverDataDir);
    await cluster.startServer();
    await cluster.nodesReady();
    expect(await missing()).toBe(0);
    expect(readFileSync(mark, "utf8").length).toBeGreaterThan(ticks);
    await cluster.reaches(id, ["running"]);
  } finally {
    await cluster.close();
  }
});

test("a single server whose log is removed refuses to lead an empty one", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lattice-test-"));
  const [rest = 0, grpc = 0] = await freePorts(2);
  mkdirSync(join(dir, "data"));
  const start = () =>
    startProgram("lattice-server", {
      args: [
        ...["--data-dir", join(dir, "data")],
        ...["--rest-listen", `${HOST}:${rest}`, "--grpc-listen", `${HOST}:${grpc}`],
      ],
      logFile: join(dir, "log"),
    });
  const first = start();
  try {
    await first.ready();
    await first.stop();
    rmSync(join(dir, "data", "log"), { recursive: true, force: true, maxRetries: 9 });
    writeFileSync(join(dir, "log"), "");
    const second = start();
    expect(await second.ended).not.toBe(0);
    expect(readFileSync(join(dir, "log"), "utf8")).toContain("its log is empty");
    await second.kill();
  } finally {
    await first.kill();
    rmSync(dir, { recursive: true, force: true, maxRetries: 20 });
  }
});
