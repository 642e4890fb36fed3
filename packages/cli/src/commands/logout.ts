// `lattice logout`: forgets the token for a server.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { dropToken } from "../login/token-cache.ts";

export function define(command: Command): void {
  command.action(async () => {
    const { settings, print } = await createContext(command);
    const dropped = dropToken(process.env, settings.url);
    print.note(dropped ? `Logged out of ${settings.url}.` : `You were not logged in to ${settings.url}.`);
  });
}
