// Events of an allocation as a list, as a stream, and to a webhook that is down at first and through a server crash;
// and a notice to the user when no node could be prepared.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const SECRET = "a secret of some length";
const taken: { readonly delivery: string; readonly type: string }[] = [];
let refusing = true;

const receiver = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  let body = "";
  request.on("data", (part) => {
    body += String(part);
  });
  request.on("end", () => {
    const signed = `${String(request.headers["x-lattice-timestamp"])}.${body}`;
    const wanted = `sha256=${createHmac("sha256", SECRET).update(signed).digest("hex")}`;
    const good = request.headers["x-lattice-signature"] === wanted;
    if (good && !refusing) taken.push(JSON.parse(body) as (typeof taken)[number]);
    response.writeHead(refusing ? 503 : good ? 204 : 401).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
afterAll(() => receiver.close());

const cluster = useCluster({
  nodes: 1,
  config: `notifications:
  webhooks:
    - { name: pager, url: "http://127.0.0.1:${(receiver.address() as AddressInfo).port}/", secret: "env://HOOK_SECRET" }
`,
  serverEnv: { HOOK_SECRET: SECRET },
});

interface Answer {
  readonly events: readonly { readonly type: string; readonly kind: string }[];
}

test("events are kept and streamed, and a webhook receives them after its own outage and a server kill", async () => {
  const id = await cluster.submit({ entrypoint: "exit 3", name: "sad" });
  await cluster.ends(id);
  const kinds = ["submitted", "placed", "started", "failed"];
  const listed = (await cluster.api<Answer>("GET", `/allocations/${id}/events`)).body.events;
  expect(listed.map(({ kind }) => kind)).toEqual(kinds);
  const verbose = await cluster.cli(["status", id, "--verbose"]);
  expect(verbose.stdout).toMatch(/Failed \(exit_code, exit code 3\)/);

  await cluster.server.kill();
  await cluster.startServer();
  const again = (await cluster.api<Answer>("GET", `/allocations/${id}/events?types=failure`)).body.events;
  expect(again.map(({ kind }) => kind)).toEqual(["failed"]);
  refusing = false;
  const delivery = await eventually({ what: "the webhook has a delivery" }, async () => taken[0] ?? null);
  expect(delivery).toMatchObject({
    delivery: `pager/${id}/failed`,
    type: "allocation.failed",
    allocation: { id, name: "sad", exit_code: 3, reason: "exit_code" },
  });
  await eventually({ what: "nothing waits to be sent" }, async () => {
    const metrics = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
    return /^lattice_webhook_deliveries_waiting 0$/m.test(metrics) ? true : null;
  });
});

test("the user and the webhook get a notice when no node could be prepared", async () => {
  const id = await cluster.submit({ entrypoint: "true", mounts: [{ source: "/does/not/exist", target: "/data/in" }] });
  expect(await cluster.ends(id)).toMatchObject({ state: "failed", reason: "prologue_failed" });
  const { stdout } = await cluster.cli(["notices"]);
  expect(stdout).toContain(`prologue failed: allocation ${id} has failed because no node could be prepared`);
  await eventually({ what: "the webhook has the notice" }, async () =>
    taken.some(({ type }) => type === "notice") ? true : null,
  );
});
