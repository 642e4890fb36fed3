// The fabric section: where the manager of the high-speed network answers, and with what it is asked. Without it launches
// get no credentials of the network.

import { seconds } from "@lattice/core";
import { z } from "zod";
import { section, span } from "./fields.ts";
import { type Environment, readSecret } from "./secret.ts";

export interface FabricConfig {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string | null;
  /** Of one call. */
  readonly timeoutMs: number;
  /** In whose name networks are made: several clusters may share a fabric. */
  readonly owner: string;
  /** Behind the address: where credentials are asked for, and where networks are kept. */
  readonly servicesPath: string;
  readonly domainsPath: string;
}

const path = (preset: string) =>
  z
    .string()
    .regex(
      /^(\/[\w.~-]+)+$/,
      "must begin with a slash, have no slash at its end and no query, for example /fabric/vnis",
    )
    .default(preset);

export const fabricSection = section({
  manager_url: z
    .url({ protocol: /^https?$/, error: "is not a URL, for example https://fabric.example.com" })
    .optional(),
  /** A reference, as env://NAME or file:///path. */
  manager_token: z.string().min(1).optional(),
  owner: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i, "must be letters, digits, dots and dashes, at most 63")
    .default("lattice"),
  timeout: span({ least: seconds(0.1), most: seconds(60), preset: "5s" }),
  services_path: path("/fabric/cxi/services"),
  domains_path: path("/fabric/vnis"),
});

type Parsed = z.output<typeof fabricSection>;

export function fabricProblems(
  { manager_token: token }: Parsed,
  environment: Environment,
): readonly { readonly path: string[]; readonly message: string }[] {
  const secret = token === undefined ? null : readSecret(token, environment);
  return secret?.kind === "missing" ? [{ path: ["manager_token"], message: secret.problem }] : [];
}

/** Null: there is no such network. */
export function completeFabric(file: Parsed, environment: Environment): FabricConfig | null {
  if (file.manager_url === undefined) return null;
  const secret = file.manager_token === undefined ? null : readSecret(file.manager_token, environment);
  return {
    url: file.manager_url.replace(/\/+$/, ""),
    token: secret?.kind === "found" ? secret.value : null,
    timeoutMs: file.timeout,
    owner: file.owner,
    servicesPath: file.services_path,
    domainsPath: file.domains_path,
  };
}
