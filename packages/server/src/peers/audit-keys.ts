// The cluster's audit key among the members: a new key is stored by other members before the log names it, and a member
// that lacks the current key asks the others for it. The connections between servers carry private keys, so clusters on
// several machines need TLS there.

import { type Duration, duration, endorsedText, type View } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { Logger } from "pino";
import type { PreparedKey } from "../api/call/control-plane.ts";
import { type Clock, sleep } from "../base/clock.ts";
import type { AuditKeys } from "../lead/controllers/audit/act.ts";
import type { AuditKeyStore, NewAuditKey } from "../state/audit/key-store.ts";
import type { PeerName } from "./address.ts";
import type { PeerClient } from "./client.ts";

interface KeyringParts {
  readonly store: AuditKeyStore;
  readonly view: () => Pick<View, "auditKey" | "auditKeys">;
  /** The other connected servers. */
  readonly others: () => readonly PeerName[];
  readonly client: (id: string) => Pick<PeerClient, "getAuditKey" | "putAuditKey"> | null;
  /** Returns the number of the cluster's members, connected or not. */
  readonly members: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

type PrepareParts = Omit<KeyringParts, "clock">;

export interface AuditKeyring extends AuditKeys {
  /** Creates the successor of the current key. Rejects with a ProblemError when it cannot be shared or endorsed. */
  prepare(lost: boolean): Promise<PreparedKey>;
  close(): Promise<void>;
}

const MIN_WAIT = duration(100);
const MAX_WAIT = duration(5_000);

export function createAuditKeyring(parts: KeyringParts): AuditKeyring {
  const stop = new AbortController();
  const following = follow(parts, stop.signal);
  /** Used again when the log could not be written. */
  let first: NewAuditKey | null = null;
  return {
    sign: (key, text) => parts.store.sign(key, text),
    async create() {
      first ??= parts.store.create();
      if (isKnown(parts, first.id)) first = parts.store.create();
      await handOut(parts, first.id);
      return first.publicKey;
    },
    prepare: (lost) => prepareAuditKey(parts, lost),
    async close() {
      stop.abort();
      await following;
    },
  };
}

const isKnown = ({ view }: KeyringParts, id: string): boolean =>
  Array.from(view().auditKeys()).some((key) => key.id === id);

export async function prepareAuditKey(parts: PrepareParts, lost: boolean): Promise<PreparedKey> {
  const { store, view, members } = parts;
  const current = view().auditKey();
  if (current === null)
    throw new ProblemError("conflict", { detail: "The audit log has no key yet.", hint: "Try again shortly." });
  const previous = current.id;
  const isHere = store.has(previous) || (await fetchKey(parts, previous));
  if (lost && isHere)
    throw new ProblemError("conflict", {
      detail: `The private key of ${previous} is not lost.`,
      hint: "Rotate without --lost: the old key then endorses the new one.",
    });
  if (!lost && !isHere)
    throw new ProblemError("conflict", {
      detail: `No connected server has the private key of ${previous}.`,
      hint: "Start the servers that have it; if all of them are gone, rotate with --lost.",
    });
  const { id, publicKey } = store.create();
  const holders = 1 + (await handOut(parts, id));
  const needed = Math.floor(members() / 2) + 1;
  if (holders < needed)
    throw new ProblemError("majority_at_risk", {
      detail: `${holders} servers have stored the new key, and ${needed} must, so that the loss of one does not lose it.`,
    });
  return { previous, publicKey, endorsement: store.sign(previous, endorsedText(previous, publicKey)), holders };
}

/** Returns how many other servers have stored the key. */
async function handOut({ store, others, client, logger }: PrepareParts, id: string): Promise<number> {
  const pem = store.pem(id) ?? "";
  const stored = others().map(async (other) => {
    try {
      await client(other.id)?.putAuditKey(pem);
      return 1;
    } catch (error) {
      logger.warn({ err: error, server: other.id, key: id }, "audit key not stored by another server");
      return 0;
    }
  });
  return (await Promise.all(stored)).reduce<number>((sum, one) => sum + one, 0);
}

/** Fetches the current key while it is missing, and deletes private keys that the log has replaced. */
async function follow(parts: KeyringParts, stop: AbortSignal): Promise<void> {
  const { store, view, clock } = parts;
  let wait: Duration = MIN_WAIT;
  while (!stop.aborted) {
    const current = view().auditKey();
    const isMissing = current !== null && !store.has(current.id) && !(await fetchKey(parts, current.id));
    for (const { id, last } of view().auditKeys()) if (last !== null) store.remove(id);
    wait = isMissing ? duration(Math.min(wait * 2, MAX_WAIT)) : MIN_WAIT;
    await sleep(clock, isMissing ? wait : duration(1_000), stop);
  }
}

async function fetchKey({ store, others, client, logger }: PrepareParts, id: string): Promise<boolean> {
  for (const other of others()) {
    try {
      const pem = await client(other.id)?.getAuditKey(id);
      if (pem === undefined || pem === "") continue;
      if (store.add(pem).id !== id) throw new Error("the answer is another key");
      logger.info({ from: other.id, key: id }, "audit key received");
      return true;
    } catch (error) {
      logger.warn({ err: error, from: other.id, key: id }, "audit key not fetched");
    }
  }
  return false;
}
