// The receiver of webhooks: accepts valid signatures, is slow, answers with errors, accepts without answering, and is
// away for a while. It remembers accepted deliveries by key.

import { createHmac } from "node:crypto";
import type { Config, LeadOptions } from "@lattice/server";
import type { Host } from "../world/host.ts";
import type { World } from "../world/world.ts";

export interface HookReceiver {
  readonly hooks: Config["notifications"]["webhooks"];
  wire(host: Host): NonNullable<LeadOptions["webhookWire"]>;
  hasTaken(key: string): boolean;
  goAway(): void;
  comeBack(): void;
  readonly counts: { deliveriesTaken: number; deliveriesRepeated: number; deliveriesFailed: number };
}

const SECRETS: Readonly<Record<string, string>> = {
  pager: "the pager's own secret",
  physics: "the physicists' secret",
};
const FAILS = 0.1;
const UNANSWERED = 0.05;
/** Until an unanswered caller gives up. */
const PATIENCE_MS = 10_000;

export function createHookReceiver(world: World): HookReceiver {
  const random = world.random("receiver");
  const taken = new Set<string>();
  const counts = { deliveriesTaken: 0, deliveriesRepeated: 0, deliveriesFailed: 0 };
  let away = false;

  const hook = (name: string) => ({ name, url: `https://${name}.example/hook`, secret: SECRETS[name] ?? "" });

  function take({ url, headers, body }: Parameters<ReturnType<HookReceiver["wire"]>["post"]>[0]): void {
    const secret = SECRETS[/^https:\/\/(\w+)\./.exec(url)?.[1] ?? ""] ?? "";
    const signed = `${headers["x-lattice-timestamp"]}.${body}`;
    const good = `sha256=${createHmac("sha256", secret).update(signed).digest("hex")}`;
    const key = headers["x-lattice-delivery"] ?? "";
    if (headers["x-lattice-signature"] !== good) world.violated("webhooks", `delivery ${key} has a wrong signature`);
    if ((JSON.parse(body) as { delivery: string }).delivery !== key)
      world.violated("webhooks", `delivery ${key} says that it is another`);
    counts[taken.has(key) ? "deliveriesRepeated" : "deliveriesTaken"] += 1;
    taken.add(key);
  }

  async function lost(host: Host, status: number | null): Promise<number> {
    counts.deliveriesFailed += 1;
    await host.wait(status === null ? PATIENCE_MS : random.between(1, 200));
    if (status === null) throw new Error("no answer");
    return status;
  }

  return {
    hooks: [
      { ...hook("pager"), tenant: null, states: ["completed", "failed", "cancelled"], notices: true },
      { ...hook("physics"), tenant: "physics" as never, states: ["failed"], notices: false },
    ],
    wire: (host) => ({
      async post(request) {
        await new Promise<void>((resolve) => world.after(random.between(1, 50), resolve));
        if (away) return lost(host, random.chance(0.5) ? null : 503);
        if (random.chance(FAILS)) return lost(host, 500);
        take(request);
        if (random.chance(UNANSWERED)) return lost(host, null);
        await host.wait(random.chance(0.1) ? random.between(100, 5_000) : random.between(1, 50));
        return 204;
      },
      chance: random.next,
    }),
    hasTaken: (key) => taken.has(key),
    goAway() {
      away = true;
    },
    comeBack() {
      away = false;
    },
    counts,
  };
}
