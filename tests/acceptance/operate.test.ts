// Operating a cluster from the CLI: settings that apply at once and after a restart, queues, deletion, history, and a
// job's service behind the server.
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2 });
const cli = async (...args: string[]) => {
  const { code, stdout, stderr } = await cluster.cli(args);
  return { code, out: stdout.trim(), err: stderr };
};
// Unique to this process, and below the ephemeral port range.
const port = 26_000 + (process.pid % 6_000);

test("a setting takes effect at once and survives a restart", async () => {
  expect((await cli("admin", "config", "set", "scheduling.max_dag_size=1")).code).toBe(0);
  const dag = {
    allocations: [
      { name: "a", entrypoint: "true" },
      { name: "b", entrypoint: "true" },
    ],
  };
  expect((await cluster.api("POST", "/dags", { body: dag })).status).toBe(400);
  await cluster.server.stop();
  await cluster.startServer();
  expect((await cli("admin", "config", "get", "scheduling.max_dag_size")).out).toBe("1");
  expect((await cli("admin", "config", "set", "scheduling.max_dag_size=none")).code).toBe(2);
  expect((await cli("admin", "config", "reset", "scheduling.max_dag_size")).code).toBe(0);
  expect((await cli("admin", "config", "get", "accounting.enabled")).out).toBe("false");
  expect(await cli("admin", "config", "set", "accounting.enabled=true")).toMatchObject({
    code: 2,
    err: expect.stringContaining("does not support accounting systems"),
  });
  expect((await cli("admin", "config", "get", "backup")).out).toMatch(
    /backup\.retention\.daily +30d +restart +default/,
  );
  expect((await cluster.api("POST", "/dags", { body: dag })).status).toBe(200);
  await cluster.nodesReady();
});

test("a queue can be shown, emptied and deleted, and its work stays in the history", async () => {
  expect((await cli("admin", "tenant", "create", "art")).code).toBe(0);
  expect((await cli("admin", "vcluster", "create", "studio", "--scheduler=ml-training", "-t", "art")).code).toBe(0);
  const submitted = await cli("submit", "-q", "-t", "art", "--intent=train", "--tag=k=v", "--nodes=9", "--", "true");
  const id = submitted.out;
  expect((await cluster.allocation(id)).spec).toMatchObject({ vcluster: "studio" });
  expect((await cli("admin", "vcluster", "queue", "studio", "-q")).out).toBe(id);
  expect((await cli("status", "--tag=k=v", "-q", "-t", "art")).out).toBe(id);
  await eventually({ what: "the scheduler has looked at it" }, async () =>
    (await cli("status", "-t", "art", "--reason=no_matching_nodes", "--count")).out === "1" ? true : null,
  );
  expect((await cli("admin", "scheduler", "status", "--vcluster=studio")).out).toMatch(/Pending: +1/);
  expect((await cli("admin", "vcluster", "delete", "studio", "--yes")).code).toBe(5);
  expect((await cli("cancel", id)).code).toBe(0);
  expect((await cli("admin", "vcluster", "delete", "studio", "--yes")).code).toBe(0);
  expect((await cli("admin", "tenant", "delete", "art", "--yes")).code).toBe(0);
  expect((await cli("history", "--all", "-q")).out.split("\n")).toContain(id);
  expect((await cli("admin", "metrics", "dump", "--component=scheduler")).out).toContain("lattice_scheduling_");
  expect((await cli("top", id)).err).toContain("No samples in that time");
});

test("a job's service is reachable through the server", async () => {
  const serve = `exec ${process.execPath} -e 'require("http").createServer((q,r)=>r.end("saw "+q.url+" "+q.headers["x-forwarded-user"])).listen(${port},"127.0.0.1")'`;
  const id = await cluster.submit({
    name: "web",
    entrypoint: serve,
    lifecycle: { type: "unbounded" },
    expose: [{ port }],
  });
  await cluster.reaches(id, ["running"]);
  const text = await eventually({ what: "the service answers" }, async () => {
    const answer = await fetch(`http://${cluster.restAddress}/api/v1/services/web/proxy/a?b=1`, {
      headers: { "x-lattice-user": "ada" },
    });
    return answer.ok ? await answer.text() : null;
  });
  expect(text).toBe("saw /a?b=1 ada");
  await cli("cancel", id);
  const gone = await fetch(`http://${cluster.restAddress}/api/v1/services/web/proxy/`);
  expect(gone.status).toBe(404);
});
