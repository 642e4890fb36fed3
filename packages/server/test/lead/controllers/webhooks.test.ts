// Webhooks: retries and requests. Notices about exhausted budgets.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Command,
  createState,
  type Delivery,
  type Duration,
  duration,
  type Instant,
  instant,
  type TenantId,
  UNLIMITED,
  type View,
} from "@lattice/core";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { decideBudgets } from "../../../src/lead/controllers/budgets/decide.ts";
import { createWebhookSender, signatureOf } from "../../../src/lead/controllers/webhooks/act.ts";
import { decideWebhooks, MAX_CONCURRENT, nextTry, type Tries } from "../../../src/lead/controllers/webhooks/decide.ts";
import type { Replica } from "../../../src/state/replica/replica.ts";

const delivery = (n: number): Delivery => ({
  key: `pager/${n}/failed`,
  hook: "pager",
  at: instant(1_000),
  about: {
    kind: "allocation",
    id: String(n) as never,
    name: "train",
    tenant: "physics" as TenantId,
    user: "ada" as never,
    state: "failed",
    reason: "oom",
    message: "out of memory",
    exitCode: 137,
    submittedAt: instant(1),
    startedAt: instant(2),
    endedAt: instant(3),
    nodes: 2,
    tags: {},
  },
});
const viewOf = (deliveries: readonly Delivery[]) => ({ deliveries: () => deliveries }) as unknown as View;

test("a failed delivery is retried with backoff and finally abandoned", () => {
  const inputs = { giveUpAfter: duration(10_000), chance: () => 1 };
  const tries = new Map<string, Tries>();
  const view = viewOf([delivery(1)]);
  const pauses: number[] = [];
  let now = instant(0);
  for (let i = 0; i < 3; i += 1) {
    expect(decideWebhooks(view, { ...inputs, now, tries }).send).toHaveLength(1);
    const next = nextTry(tries.get("pager/1/failed"), { now, chance: inputs.chance });
    tries.set("pager/1/failed", next);
    expect(decideWebhooks(view, { ...inputs, now, tries }).send).toEqual([]);
    pauses.push(next.next - now);
    now = next.next;
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000]);
  expect(decideWebhooks(view, { ...inputs, now: instant(10_000), tries }).giveUp).toHaveLength(1);
  expect(nextTry({ count: 40, next: now, since: now }, { now, chance: () => 1 }).next - now).toBe(300_000);
});

test("the number of concurrent deliveries is limited", () => {
  const many = Array.from({ length: 100 }, (_, n) => delivery(n));
  const verdict = decideWebhooks(viewOf(many), {
    now: instant(0),
    tries: new Map(),
    giveUpAfter: 1 as Duration,
    chance: () => 0,
  });
  expect(verdict.send).toHaveLength(MAX_CONCURRENT);
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request) text += String(part);
  return text;
}

test("a delivery is signed, and removed only when it was accepted", async () => {
  const seen: { headers: IncomingMessage["headers"]; body: string }[] = [];
  const receiver = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ headers: request.headers, body });
      response.writeHead(seen.length === 1 ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  closers.push(() => receiver.close());
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  let waiting = [delivery(7)];
  const proposed: Command[] = [];
  const counted: string[] = [];
  let worked = 0;
  const turn = createWebhookSender(
    {
      replica: { view: { deliveries: () => waiting } } as unknown as Replica,
      sequencer: {
        propose: async (command) => {
          proposed.push(command);
          waiting = [];
          return { outcome: { kind: "accepted", id: null }, index: 1 as never };
        },
      },
      clock: { ...systemClock, worked: () => worked },
      logger: pino({ level: "silent" }),
      hooks: [{ name: "pager", tenant: null, states: ["failed"], notices: true, url, secret: "sixteen letters!" }],
      count: (hook, result) => counted.push(`${hook} ${result}`),
    },
    new AbortController().signal,
  );
  await turn();
  expect(proposed).toEqual([]);
  await turn();
  expect(seen).toHaveLength(1);
  worked = 2_000;
  await turn();
  expect(proposed).toEqual([{ kind: "hooks.delivered", keys: ["pager/7/failed"] }]);
  expect(counted).toEqual(["pager failed", "pager delivered"]);
  const [first, second] = seen;
  expect(second?.headers["x-lattice-delivery"]).toBe(first?.headers["x-lattice-delivery"]);
  const sentAt = String(second?.headers["x-lattice-timestamp"]);
  expect(second?.headers["x-lattice-signature"]).toBe(signatureOf("sixteen letters!", sentAt, second?.body ?? ""));
  expect(JSON.parse(second?.body ?? "")).toMatchObject({
    type: "allocation.failed",
    allocation: { id: "7", reason: "oom", exit_code: 137, started_at: "1970-01-01T00:00:00.002Z" },
  });
});

test("an exhausted budget raises one notice, which is cleared afterwards", () => {
  const state = createState();
  const tenant = {
    id: "physics" as TenantId,
    description: "",
    quota: { ...UNLIMITED, nodeHoursBudget: 0 },
    maxPreemptionClass: 10,
    createdAt: instant(0),
    automatic: false,
  };
  state.tables.tenants.set(tenant.id, tenant);
  const decide = () => decideBudgets(state, { now: instant(5_000) as Instant, periodDays: 90 });
  const [raised] = decide();
  expect(raised).toMatchObject({ kind: "notice.raise", notice: { tenant: "physics", user: null } });
  if (raised?.kind !== "notice.raise") throw new Error("nothing was raised");
  state.tables.notices.set(raised.notice.key, { ...raised.notice, at: instant(5_000) });
  expect(decide()).toEqual([]);
  state.tables.tenants.set(tenant.id, { ...tenant, quota: UNLIMITED });
  expect(decide()).toEqual([{ kind: "notice.clear", key: raised.notice.key }]);
});
