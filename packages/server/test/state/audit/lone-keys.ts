// The audit keys of a single server, and its signatures, for states that no leader runs.

import { type Command, type State, signedText } from "@lattice/core";
import { pino } from "pino";
import { AuditKeyStore } from "../../../src/state/audit/key-store.ts";

/** The folder of the keys is made with the first use. */
export function loneKeys(dir: () => string, state: () => State) {
  let opened: AuditKeyStore | null = null;
  return {
    get store(): AuditKeyStore {
      opened ??= AuditKeyStore.open(dir());
      return opened;
    },
    view: state,
    others: () => [],
    client: () => null,
    members: () => 1,
    logger: pino({ level: "silent" }),
    /** Returns the command of the first key. */
    firstKey(): Command {
      return { kind: "audit.keep_key", publicKey: this.store.create().publicKey };
    },
    /** Returns the command that signs every record. */
    signAll(): Command {
      const key = state().auditKey()?.id ?? "";
      const signed = state().signedAudit();
      const hashes = Array.from(state().audit()).flatMap(({ n, hash }) => (n > signed ? [hash] : []));
      const signatures = hashes.map((hash) => this.store.sign(key, signedText(hash)) ?? "");
      return { kind: "audit.sign", key, first: signed + 1, signatures };
    },
  };
}
