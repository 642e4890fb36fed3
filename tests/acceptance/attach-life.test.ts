// Idle and lost terminals: an idle user gets a reminder and stays connected, a silent client is disconnected, and a
// preempted terminal shows a message.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { eventually, sleep } from "../harness/eventually.ts";
import { isAlive } from "../harness/processes.ts";
import { useTmux } from "../harness/tmux.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 1, config: "sessions:\n  idle_timeout: 2s\n  keepalive_timeout: 10s\n" });
const tmux = useTmux(cluster);
const ROOT = { headers: { "x-lattice-user": "root" } };

async function running(body: object = {}): Promise<string> {
  const id = await cluster.submit({ entrypoint: "sleep 600", walltime: "3h", ...body }, ROOT);
  await cluster.reaches(id, ["running"]);
  return id;
}

test("an idle terminal shows one reminder per idle period, with the remaining walltime", async () => {
  const id = await running();
  const screen = tmux.open(`attach ${id}`, { cols: 120, rows: 24 });
  await screen.shows(/\[lattice\] Warning: session idle for \d+ s\. Walltime remaining: 2h 5\dm\./);
  // It stays open beyond the time after which a silent client is disconnected.
  await sleep(10_500);
  expect(screen.text().match(/session idle/g)).toHaveLength(1);
  screen.type("echo still $((40 + 2))\n");
  await screen.shows(/still 42/);
  await eventually({ what: "the next silence is remarked as well" }, () =>
    screen.text().match(/session idle/g)?.length === 2 ? true : null,
  );
  screen.kill();
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
});

/** A client that accepts everything and sends nothing, like a sleeping machine. */
function silent(id: string, command: string): Promise<{ readonly socket: Socket; readonly pid: number }> {
  const [host = "", port = ""] = cluster.restAddress.split(":");
  const path = `/api/v1/allocations/${id}/attach?user=root&command=${encodeURIComponent(command)}`;
  const headers = [
    `GET ${path} HTTP/1.1`,
    `host: ${cluster.restAddress}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) });
    let text = "";
    socket.on("data", (data) => {
      text += data.toString("latin1");
      const pid = /pid=(\d+)\r/.exec(text)?.[1];
      if (pid !== undefined) resolve({ socket, pid: Number(pid) });
    });
    socket.on("error", reject);
    socket.write(`${headers.join("\r\n")}\r\n\r\n`);
  });
}

test("a client without keepalives is disconnected and its processes get SIGHUP", async () => {
  const id = await running();
  const heard = cluster.file("heard");
  const command = `trap 'echo hangup >${heard}; exit' HUP; echo pid=$$; while :; do sleep 0.1; done`;
  const { socket, pid } = await silent(id, command);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  expect(isAlive(pid)).toBe(true);
  await closed;
  await eventually({ what: "its shell is gone" }, () => (isAlive(pid) ? null : true));
  expect((await cluster.cli(["attach", id, `--command=cat ${heard}`])).stdout).toContain("hangup");
  expect((await cluster.allocation(id)).state).toBe("running");
  await cluster.cli(["cancel", id]);
  await cluster.ends(id);
});

test("a terminal in a preempted allocation shows the preemption and how to return", async () => {
  const id = await running({ preemption_class: 1, requeue: "on_node_failure" });
  const screen = tmux.open(`attach ${id}; echo "status=$?"`, { cols: 140, rows: 24 });
  await screen.shows(/[#$] $/m);
  const urgent = await cluster.submit({ entrypoint: "sleep 600", walltime: "1h", preemption_class: 8 }, ROOT);
  await screen.shows(
    new RegExp(`\\[lattice\\] Allocation preempted\\. Session suspended\\. Use 'lattice attach ${id}'`),
  );
  await screen.shows(/^status=255$/m);
  await cluster.reaches(urgent, ["running"]);
  for (const each of [urgent, id]) await cluster.cli(["cancel", each]);
});
