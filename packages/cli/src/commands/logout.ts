// `lattice logout`: revokes the token at the identity provider and deletes it.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { deleteToken } from "../login/token-store.ts";

export function define(command: Command): void {
  command.action(async () => {
    const { settings, print } = await createContext(command);
    const kept = await deleteToken(process.env, settings.url);
    if (kept !== null && kept.issuer !== "" && !(await (await import("../login/provider.ts")).revokeToken(kept)))
      print.warn("the identity provider could not revoke the token; it stays valid until it expires");
    print.note(kept !== null ? `Logged out of ${settings.url}.` : `You were not logged in to ${settings.url}.`);
  });
}
