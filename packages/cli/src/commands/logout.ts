// `lattice logout`: tells the identity provider that the token is not to be used any more, and forgets it.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { forgetToken } from "../login/token-store.ts";

export function define(command: Command): void {
  command.action(async () => {
    const { settings, print } = await createContext(command);
    const kept = await forgetToken(process.env, settings.url);
    if (kept !== null && kept.issuer !== "" && !(await (await import("../login/provider.ts")).revoke(kept)))
      print.warn("the identity provider could not be told; the token ends by itself");
    print.note(kept !== null ? `Logged out of ${settings.url}.` : `You were not logged in to ${settings.url}.`);
  });
}
