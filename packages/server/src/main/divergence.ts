// Starts the comparison of this server's state with that of the other servers. A single server has nothing to compare.

import type { Command } from "@lattice/core";
import type { Logger } from "../base/observe/index.ts";
import { parsePeer } from "../peers/address.ts";
import { DivergenceWatch } from "../peers/divergence-watch.ts";
import { otherStatuses, stateOf } from "../peers/member-status.ts";
import type { Roster } from "../peers/roster.ts";
import type { Leading } from "./leading.ts";
import type { Storage } from "./storage.ts";

const STATUS_TIMEOUT_MS = 2_000;

interface Parts {
  readonly storage: Storage;
  readonly logger: Logger;
  readonly leading: Pick<Leading, "leader" | "leads">;
  readonly roster: Roster;
  readonly propose: (command: Command) => Promise<unknown>;
}

export function watchDivergence({ storage, logger, leading, roster, propose }: Parts): DivergenceWatch {
  const { self, replica, log, clock, metrics, isShared } = storage;
  const isKnown = (id: string): boolean => log.shared?.known().some((server) => server.id === id) === true;
  const watch = new DivergenceWatch({
    selfId: self.id,
    ownMarks: replica.stateMarks,
    others: async () => (await otherStatuses(roster, STATUS_TIMEOUT_MS)).map(stateOf),
    leaderId: () => parsePeer(log.status().leader ?? "")?.id ?? null,
    leads: leading.leads,
    isMember: (id) => roster.others().some((other) => other.id === id) || isKnown(id),
    giveUpLead: () => leading.leader.close(),
    view: () => replica.view,
    propose,
    clock,
    logger,
    metrics,
  });
  return isShared ? watch.start() : watch;
}
