// `lattice admin token create`: signs a token with the cluster's shared secret, for agents, tests, and outages of the
// identity provider. The secret comes from the environment or a file and never leaves this machine.

import { readFileSync } from "node:fs";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { createLocalContext } from "../../context.ts";
import { signToken } from "../../login/sign-token.ts";

interface TokenFlags {
  readonly user: string;
  readonly scope: readonly string[];
  readonly audience?: string;
  readonly hours: string;
  readonly secretFile?: string;
}

const SECRET_VARIABLE = "LATTICE_OIDC_HMAC_SECRET";
const MAX_HOURS = 24 * 365;

export function defineToken(command: Command): void {
  command
    .command("create")
    .description("Create a token signed with the shared secret")
    .requiredOption("--user <name>", "user of the token; for an agent, the node name; for a new server, its id")
    .option(
      "--scope <name>",
      "admin, tenant:admin, operator, readonly, agent, agent:any, member, member:any (repeatable)",
      (one: string, all: string[]) => [...all, one],
      [],
    )
    .option("--audience <name>", "the cluster's oidc_client_id, if it has one")
    .option("--hours <n>", "validity in hours", "24")
    .option("--secret-file <path>", `file with the secret (default: the variable ${SECRET_VARIABLE})`)
    .action(async (flags: TokenFlags, self: Command) => {
      const { settings, print } = await createLocalContext(self);
      const hours = Number(flags.hours);
      if (!(hours > 0 && hours <= MAX_HOURS)) throw invalid("--hours", `must be above 0 and at most ${MAX_HOURS}`);
      const now = Math.floor(Date.now() / 1_000);
      const token = signToken(secretOf(flags.secretFile), {
        sub: flags.user,
        ...(settings.tenant === undefined ? {} : { tenant: settings.tenant }),
        ...(flags.scope.length === 0 ? {} : { scope: flags.scope.join(" ") }),
        ...(flags.audience === undefined ? {} : { aud: flags.audience }),
        iat: now,
        exp: now + Math.round(hours * 3_600),
      });
      if (print.structured) return print.document({ token, user: flags.user, scopes: flags.scope });
      print.line(token);
    });
}

function secretOf(path: string | undefined): string {
  if (path === undefined) {
    const value = process.env[SECRET_VARIABLE];
    if (value === undefined || value === "")
      throw invalid(SECRET_VARIABLE, "is not set, and there is no --secret-file");
    return value;
  }
  try {
    return readFileSync(path, "utf8").split("\n")[0]?.trim() ?? "";
  } catch (error) {
    throw invalid("--secret-file", `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unreadable"})`);
  }
}

const invalid = (field: string, detail: string): ProblemError =>
  new ProblemError("invalid_argument", { detail: `${field} ${detail}`, fields: [{ field, detail, hint: "" }] });
