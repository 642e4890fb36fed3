// Signs audit records as soon as they are committed, with the cluster's key, and makes the first key. A crash between a
// record and its signature leaves the record to the next leader.

import { type Duration, duration, signedText } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { Replica } from "../../../state/replica/replica.ts";
import type { Sequencer } from "../../commit/sequencer.ts";
import { decideSigning } from "./decide.ts";

/** The private keys of the audit log, which the servers of a cluster share. */
export interface AuditKeys {
  /** Returns the signature in base64, or `null` while this server does not have the private key. */
  sign(key: string, text: string): string | null;
  /** Creates a key that this server and the other connected ones keep. Returns the public key. */
  create(): Promise<string>;
}

interface SigningContext {
  readonly replica: Pick<Replica, "view" | "onApplied">;
  readonly sequencer: Pick<Sequencer, "propose">;
  readonly keys: AuditKeys;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MIN_WAIT = duration(200);
const MAX_WAIT = duration(10_000);

/** Signs what was committed before this term, so that a server signs before it serves. Never rejects. */
export async function signCommitted(context: SigningContext, over: AbortSignal): Promise<void> {
  await signAll(context, over).catch((error: unknown) => {
    if (!over.aborted) context.logger.warn({ err: error }, "audit records not signed yet");
  });
}

/** Runs until the signal aborts. */
export async function runAuditSigning(context: SigningContext, over: AbortSignal): Promise<void> {
  const { clock, logger, replica } = context;
  let wait: Duration = MIN_WAIT;
  while (!over.aborted) {
    try {
      const done = await signAll(context, over);
      if (done) {
        wait = MIN_WAIT;
        await untilUnsigned(replica, over);
        continue;
      }
      logger.warn("audit records not signed: this server does not have the private key of the cluster yet");
    } catch (error) {
      if (!over.aborted) logger.warn({ err: error }, "audit records not signed yet");
    }
    await sleep(clock, wait, over);
    wait = duration(Math.min(wait * 2, MAX_WAIT));
  }
}

/** Returns false when the private key is missing. */
async function signAll({ replica, sequencer, keys }: SigningContext, over: AbortSignal): Promise<boolean> {
  const { view } = replica;
  if (view.auditKey() === null) await sequencer.propose({ kind: "audit.keep_key", publicKey: await keys.create() });
  for (let next = decideSigning(view); next !== null && !over.aborted; next = decideSigning(view)) {
    const { key, first, hashes } = next;
    const signatures = hashes.map((hash) => keys.sign(key, signedText(hash)));
    if (!signatures.every((signature) => signature !== null)) return false;
    await sequencer.propose({ kind: "audit.sign", key, first, signatures });
  }
  return true;
}

/** Resolves when a record lacks a signature, when the current key has ended, or when the signal aborts. */
function untilUnsigned({ view, onApplied }: SigningContext["replica"], over: AbortSignal): Promise<void> {
  const isDue = () => view.auditKey() === null || (view.lastAudit()?.n ?? 0) > view.signedAudit();
  return new Promise((resolve) => {
    if (over.aborted || isDue()) return resolve();
    const finish = () => {
      unsubscribe();
      over.removeEventListener("abort", finish);
      resolve();
    };
    const unsubscribe = onApplied(() => {
      if (isDue()) finish();
    });
    over.addEventListener("abort", finish, { once: true });
  });
}
