// The keys of the audit log on this server, shared with the other members.

import type { Logger } from "../base/observe/index.ts";
import { type AuditKeyring, createAuditKeyring } from "../peers/audit-keys.ts";
import type { Roster } from "../peers/roster.ts";
import type { Storage } from "./storage.ts";

export const openKeyring = (
  { audit, replica, log, clock }: Storage,
  { logger, roster }: { readonly logger: Logger; readonly roster: Roster },
): AuditKeyring =>
  createAuditKeyring({
    store: audit.keys,
    view: () => replica.view,
    others: roster.others,
    client: roster.client,
    members: () => Math.max(1 + roster.others().length, log.shared?.known().length ?? 1),
    clock,
    logger,
  });
