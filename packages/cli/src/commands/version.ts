// `lattice version`: the versions of this client and, if it responds, of the server.

import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { version } from "../version.ts";

export function define(command: Command): void {
  command.option("--client", "only the client version").action(async (flags: { readonly client?: boolean }) => {
    const { client, print, settings } = await createContext(command);
    let server: string | undefined;
    if (flags.client !== true) {
      try {
        const health = await client.health({ timeoutMs: 3_000 });
        server = typeof health.version === "string" ? health.version : "unknown version";
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        print.note(`Server: ${error.problem.detail}`);
      }
    }
    if (print.structured) return print.document({ client: version, ...(server === undefined ? {} : { server }) });
    print.line(`Client: ${version}`);
    if (server !== undefined) print.line(`Server: ${server} at ${settings.url}`);
  });
}
