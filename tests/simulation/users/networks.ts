// Administrators of network domains, who change the grace of domains.

import { type Command, duration, type TenantId } from "@lattice/core";
import { DOMAINS, originOf, TENANTS } from "./requests.ts";
import type { UserContext, UserGroup } from "./user-group.ts";

const EVERY_MS = 20_000;
const GRACES_MS = [0, 5_000, 20_000, 60_000] as const;

export function networkUsers({ client, random, requestId, every }: UserContext): UserGroup {
  const counts = { domainGraces: 0 };

  async function setGrace(): Promise<void> {
    const command: Command = {
      kind: "network.grace",
      origin: originOf(requestId("grace")),
      tenant: random.pick(TENANTS).id as TenantId,
      name: random.pick(DOMAINS),
      grace: duration(random.pick(GRACES_MS)),
    };
    const outcome = await client.ask(command);
    if (outcome?.kind === "accepted") counts.domainGraces += 1;
  }

  return { counts, begin: () => every(EVERY_MS, setGrace), tidyUp: () => undefined };
}
