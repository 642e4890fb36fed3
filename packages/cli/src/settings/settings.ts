// What a command runs with, complete: flags over environment over configuration file over
// defaults. Decided once, in one pure function, from values read elsewhere.

import { ProblemError } from "@lattice/wire";
import type { ConfigFile } from "./config-file.ts";

export type OutputFormat = "table" | "wide" | "json" | "yaml";

export interface Flags {
  readonly output: OutputFormat | undefined;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly tenant: string | undefined;
  readonly vcluster: string | undefined;
  readonly config: string | undefined;
  readonly url: string | undefined;
  readonly ca: string | undefined;
  readonly noColor: boolean;
}

/** Of programs that take no flags of ours: environment and configuration decide. */
export const NO_FLAGS: Flags = {
  output: undefined,
  quiet: false,
  verbose: false,
  tenant: undefined,
  vcluster: undefined,
  config: undefined,
  url: undefined,
  ca: undefined,
  noColor: true,
};

export interface Settings {
  readonly url: string;
  /** Path of the authority (PEM) that the servers' certificates come from; undefined: one that everybody trusts. */
  readonly ca: string | undefined;
  readonly user: string;
  readonly tenant: string | undefined;
  readonly vcluster: string | undefined;
  /** What the command line itself names: lists are narrowed by that alone, while the rest of the settings says where work goes. */
  readonly named: Named;
  readonly uenv: string | undefined;
  readonly output: OutputFormat;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
}

export interface Named {
  readonly tenant?: string;
  readonly vcluster?: string;
}

export interface SettingSources {
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  readonly file: ConfigFile;
  readonly username: string;
  readonly isTerminal: boolean;
}

/** Where servers listen for REST unless told otherwise. */
const DEFAULT_PORT = 8080;
export const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;

export function resolveSettings({ flags, env, file, username, isTerminal }: SettingSources): Settings {
  const url = flags.url ?? given(env.LATTICE_API_URL) ?? given(env.LATTICE_ENDPOINT) ?? file.url ?? DEFAULT_URL;
  const output = flags.output ?? file.output ?? "table";
  if (output !== "table" && output !== "wide" && output !== "json" && output !== "yaml") {
    throw new ProblemError("invalid_argument", {
      detail: `output_format "${output}" is unknown`,
      hint: "Use table, wide, json or yaml.",
    });
  }
  return {
    url: checkUrls(url),
    ca: flags.ca ?? given(env.LATTICE_CA) ?? file.ca,
    // Inside a job: whoever submitted it, not the account it runs under.
    user: given(env.LATTICE_USER) ?? file.user ?? username,
    tenant: flags.tenant ?? given(env.LATTICE_TENANT) ?? file.tenant,
    vcluster: flags.vcluster ?? given(env.LATTICE_VCLUSTER) ?? file.vcluster,
    named: namedBy(flags),
    uenv: file.uenv,
    output,
    quiet: flags.quiet,
    verbose: flags.verbose,
    color: isTerminal && !flags.noColor && given(env.NO_COLOR) === undefined && file.color !== false,
  };
}

const namedBy = ({ tenant, vcluster }: Flags): Named => ({
  ...(tenant === undefined ? {} : { tenant }),
  ...(vcluster === undefined ? {} : { vcluster }),
});

const given = (value: string | undefined): string | undefined => (value === "" ? undefined : value);

/** Several servers of one cluster are separated by commas. */
const checkUrls = (text: string): string =>
  text
    .split(",")
    .map((one) => checkUrl(one.trim()))
    .join(",");

function checkUrl(text: string): string {
  const url = /^[a-z]+:\/\//i.test(text) ? text : addressOf(text);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new ProblemError("invalid_argument", {
      detail: `"${text}" is not the address of a server`,
      hint: `For example: ${DEFAULT_URL}`,
    });
  }
  return url.replace(/\/+$/, "");
}

/** A host alone, or with a port: over TLS unless it is this machine, so that no token goes over a network in the clear by mistake. */
function addressOf(host: string): string {
  const url = `${isThisMachine(host) ? "http" : "https"}://${host}`;
  const portless = URL.canParse(url) && !/:\d+$/.test(host) && new URL(url).pathname === "/";
  return portless ? `${url.replace(/\/+$/, "")}:${DEFAULT_PORT}` : url;
}

const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(host);
