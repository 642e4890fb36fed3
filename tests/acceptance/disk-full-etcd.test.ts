// A full disk under a server with its own etcd member: the same refusals as with the embedded log, reads continue also when
// etcd and the server are killed on the full disk, nothing acknowledged is lost, and writes resume when there is space.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { HOST } from "../harness/host.ts";
import { kill, processesIn } from "../harness/processes.ts";
import { type Program, startProgram } from "../harness/program.ts";
import { freePorts } from "../harness/quorum.ts";
import { type Json, request } from "../harness/rest.ts";
import { mountSmallDisk, type SmallDisk } from "../harness/small-disk.ts";

/** etcd reserves two files of 64 MiB for its log. */
const DISK_BYTES = 256 * 1024 * 1024;
const home = mkdtempSync(join(tmpdir(), "lattice-test-"));
const HEADERS = { "x-lattice-user": "ada" };
let disk: SmallDisk;
let server: Program;
let url = "";

beforeAll(async () => {
  disk = await mountSmallDisk(DISK_BYTES);
  mkdirSync(join(disk.seen, "data"));
  const [rest, grpc, client, peer] = await freePorts(4);
  url = `http://${HOST}:${rest}`;
  const settings = {
    server: { id: "server-1", data_dir: join(disk.path, "data") },
    quorum: {
      engine: "etcd",
      node_id: 1,
      etcd: { managed: true, client_listen: `${HOST}:${client}`, peer_address: `${HOST}:${peer}` },
    },
    api: { rest_listen: `${HOST}:${rest}`, grpc_listen: `${HOST}:${grpc}` },
  };
  writeFileSync(join(home, "server.json"), JSON.stringify(settings));
  await start("--bootstrap");
  await eventually({ what: "the server is ready" }, async () => ((await get("/readyz")).status === 200 ? true : null));
});

afterAll(async () => {
  await server?.kill();
  await disk.close();
  rmSync(home, { recursive: true, force: true });
});

async function start(...how: readonly string[]): Promise<void> {
  server = startProgram("lattice-server", {
    args: ["--config", join(home, "server.json"), ...how],
    logFile: join(home, "server.log"),
    prefix: disk.prefix,
  });
  await server.ready();
}

const get = (path: string) => request(url, "GET", path, { headers: HEADERS });
const submit = () =>
  request<Json>(url, "POST", "/api/v1/allocations", { headers: HEADERS, body: { entrypoint: "true" } });
const cancel = (id: string) => request<Json>(url, "DELETE", `/api/v1/allocations/${id}`, { headers: HEADERS });
const ids = async () => {
  const { status, body } = await request<{ allocations?: { id: string }[] }>(url, "GET", "/api/v1/allocations", {
    headers: HEADERS,
  });
  expect(status).toBe(200);
  return (body.allocations ?? []).map(({ id }) => id).sort();
};
/** The server's command line names its configuration only, so these are its member of etcd. */
const members = () => processesIn(join(disk.path, "data")).filter((pid) => commandOf(pid).includes("etcd"));
const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "";

test("a full disk under etcd refuses work, serves reads across restarts, and heals", async () => {
  const kept: string[] = [];
  for (let n = 0; n < 5; n += 1) kept.push(String((await submit()).body.id));

  disk.leaveFree(0.03);
  const refused = await eventually({ what: "a submission is refused" }, async () => {
    const answer = await submit();
    if (answer.status !== 200) return answer;
    kept.push(String(answer.body.id));
    return null;
  });
  expect(refused).toMatchObject({ status: 503, body: { code: "storage_full" } });
  expect(refused.body.detail).toContain(join(disk.path, "data"));
  expect((await cancel(kept[0] ?? "")).status).toBe(200);

  disk.release();
  disk.fill();
  await server.kill();
  await start();
  expect(await ids()).toEqual([...kept].sort());
  expect(await submit()).toMatchObject({ status: 503, body: { code: "storage_full" } });

  expect(members()).toHaveLength(1);
  for (const pid of members()) kill(pid, "SIGKILL");
  expect(await ids()).toEqual([...kept].sort());
  expect(await submit()).toMatchObject({ status: 503, body: { code: "storage_full" } });

  disk.release();
  const after = await eventually({ what: "submissions work again" }, async () => {
    const answer = await submit();
    return answer.status === 200 ? answer : null;
  });
  kept.push(String(after.body.id));
  expect(await ids()).toEqual([...kept].sort());
});
