// The complete settings of a run. Flags win over the environment, the environment over the configuration
// file, the file over defaults. One pure function decides; callers read the sources.

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

/** For programs without global flags: environment and configuration file decide. */
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

export interface CliSettings {
  readonly url: string;
  /** Path of the servers' CA certificate (PEM); `undefined` for the system's trust store. */
  readonly ca: string | undefined;
  readonly user: string;
  readonly tenant: string | undefined;
  readonly vcluster: string | undefined;
  /** Targets named on the command line. Only these filter lists; the other sources choose where new work goes. */
  readonly named: NamedTargets;
  readonly uenv: string | undefined;
  readonly output: OutputFormat;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
}

interface NamedTargets {
  readonly tenant?: string;
  readonly vcluster?: string;
}

interface SettingSources {
  readonly flags: Flags;
  readonly env: NodeJS.ProcessEnv;
  readonly file: ConfigFile;
  readonly username: string;
  readonly isTerminal: boolean;
}

/** The default REST port of servers. */
const DEFAULT_PORT = 8080;
export const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;

export function resolveSettings({ flags, env, file, username, isTerminal }: SettingSources): CliSettings {
  const url = flags.url ?? nonEmpty(env.LATTICE_API_URL) ?? nonEmpty(env.LATTICE_ENDPOINT) ?? file.url ?? DEFAULT_URL;
  const output = flags.output ?? file.output ?? "table";
  if (output !== "table" && output !== "wide" && output !== "json" && output !== "yaml") {
    throw new ProblemError("invalid_argument", {
      detail: `output_format "${output}" is unknown`,
      hint: "Use table, wide, json or yaml.",
    });
  }
  return {
    url: checkUrls(url),
    ca: flags.ca ?? nonEmpty(env.LATTICE_CA) ?? file.ca,
    // Inside a job, LATTICE_USER is the submitter, which may differ from the account the job runs under.
    user: nonEmpty(env.LATTICE_USER) ?? file.user ?? username,
    tenant: flags.tenant ?? nonEmpty(env.LATTICE_TENANT) ?? file.tenant,
    vcluster: flags.vcluster ?? nonEmpty(env.LATTICE_VCLUSTER) ?? file.vcluster,
    named: namedTargets(flags),
    uenv: file.uenv,
    output,
    quiet: flags.quiet,
    verbose: flags.verbose,
    color: isTerminal && !flags.noColor && nonEmpty(env.NO_COLOR) === undefined && file.color !== false,
  };
}

const namedTargets = ({ tenant, vcluster }: Flags): NamedTargets => ({
  ...(tenant === undefined ? {} : { tenant }),
  ...(vcluster === undefined ? {} : { vcluster }),
});

const nonEmpty = (value: string | undefined): string | undefined => (value === "" ? undefined : value);

/** Checks the servers of one cluster, separated by commas. */
const checkUrls = (text: string): string =>
  text
    .split(",")
    .map((one) => checkUrl(one.trim()))
    .join(",");

function checkUrl(text: string): string {
  const url = /^[a-z]+:\/\//i.test(text) ? text : addressOf(text);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new ProblemError("invalid_argument", {
      detail: `"${text}" is not a server address`,
      hint: `Write http://HOST:PORT or https://HOST:PORT, for example ${DEFAULT_URL}`,
    });
  }
  return url.replace(/\/+$/, "");
}

/** Completes `host` or `host:port`. Other machines get https, so that no token crosses a network unencrypted by mistake. */
function addressOf(host: string): string {
  const url = `${isThisMachine(host) ? "http" : "https"}://${host}`;
  const portless = URL.canParse(url) && !/:\d+$/.test(host) && new URL(url).pathname === "/";
  return portless ? `${url.replace(/\/+$/, "")}:${DEFAULT_PORT}` : url;
}

const isThisMachine = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(host);
