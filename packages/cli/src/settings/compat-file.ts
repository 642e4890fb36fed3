// Reads the site's settings for Slurm users: the mapping of partition to vCluster, QoS to preemption class and account
// to tenant, and whether sbatch exports the environment.
// Source: $LATTICE_COMPAT, or ~/.config/lattice/compat.yaml merged over /etc/lattice/compat.yaml. Without a file
// every partition is the vCluster of the same name. Unknown keys are errors, as in the configuration file.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_QOS_CLASSES, ProblemError, type SlurmMapping } from "@lattice/wire";

type Exports = "ALL" | "NONE";

/** The settings of a file. */
interface SiteSettings extends SlurmMapping {
  /** The default of `sbatch --export`. */
  readonly exports?: Exports;
}

export interface Compat {
  readonly mapping: SlurmMapping;
  /** The default of `sbatch --export`. */
  readonly exports: Exports;
  /** Returns the partition that maps to a vCluster. */
  readonly partitionOf: (vcluster: string) => string;
  readonly vclusterOf: (partition: string) => string;
  /** Returns the account that maps to a tenant. */
  readonly accountOf: (tenant: string) => string;
  readonly tenantOf: (account: string) => string;
  readonly qosOf: (preemptionClass: number | undefined) => string;
}

const KEYS = ["partition_mapping", "qos_mapping", "account_mapping", "export"] as const;
/** Applies to all users of this machine; a user's own file overrides single names. */
const SITE_PATH = "/etc/lattice/compat.yaml";

export async function readCompat(env: NodeJS.ProcessEnv, sitePath = SITE_PATH): Promise<Compat> {
  const named = env.LATTICE_COMPAT;
  if (named !== undefined && named !== "") return compatOf(await readMapping(named));
  const own = defaultPath(env);
  const site = existsSync(sitePath) ? await readMapping(sitePath) : {};
  return compatOf(own !== null && existsSync(own) ? over(site, await readMapping(own)) : site);
}

function over(site: SiteSettings, own: SiteSettings): SiteSettings {
  const both = { ...site, ...own };
  return {
    ...(both.partitions === undefined ? {} : { partitions: { ...site.partitions, ...own.partitions } }),
    ...(both.qos === undefined ? {} : { qos: { ...site.qos, ...own.qos } }),
    ...(both.accounts === undefined ? {} : { accounts: { ...site.accounts, ...own.accounts } }),
    ...(both.exports === undefined ? {} : { exports: both.exports }),
  };
}

async function readMapping(path: string): Promise<SiteSettings> {
  let document: unknown;
  try {
    const text = readFileSync(path, "utf8");
    const { parseYaml } = await import("../parse/yaml.ts");
    document = parseYaml(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw wrong(`${path} cannot be read: ${why}`);
  }
  return checkCompat(document ?? {}, path);
}

export function checkCompat(document: unknown, path: string): SiteSettings {
  const top = tableOf(document, path);
  const unknown = Object.keys(top).find((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown !== undefined) throw wrong(`${path}: unknown key "${unknown}"; known keys: ${KEYS.join(", ")}`);
  const partitions = Object.entries(tableOf(top.partition_mapping ?? {}, `${path}: partition_mapping`));
  const qos = Object.entries(tableOf(top.qos_mapping ?? {}, `${path}: qos_mapping`));
  const badPartition = partitions.find(([, vcluster]) => typeof vcluster !== "string" || vcluster === "");
  if (badPartition !== undefined) throw wrong(`${path}: partition "${badPartition[0]}" must name a vCluster`);
  const accounts = Object.entries(tableOf(top.account_mapping ?? {}, `${path}: account_mapping`));
  const badAccount = accounts.find(([, tenant]) => typeof tenant !== "string" || tenant === "");
  if (badAccount !== undefined) throw wrong(`${path}: account "${badAccount[0]}" must name a tenant`);
  const badQos = qos.find(([, value]) => typeof value !== "number" || !Number.isInteger(value) || value < 0);
  if (badQos !== undefined) throw wrong(`${path}: QoS "${badQos[0]}" must be a preemption class, a whole number`);
  const exports = exportsOf(top.export, path);
  return {
    ...(exports === undefined ? {} : { exports }),
    ...(partitions.length === 0 ? {} : { partitions: Object.fromEntries(partitions) as Record<string, string> }),
    ...(qos.length === 0
      ? {}
      : { qos: Object.fromEntries(qos.map(([name, value]) => [name.toLowerCase(), value as number])) }),
    ...(accounts.length === 0 ? {} : { accounts: Object.fromEntries(accounts) as Record<string, string> }),
  };
}

function exportsOf(value: unknown, path: string): Exports | undefined {
  if (value === undefined) return undefined;
  const name = typeof value === "string" ? value.toUpperCase() : value;
  if (name !== "ALL" && name !== "NONE") throw wrong(`${path}: export must be ALL or NONE`);
  return name;
}

export function compatOf(site: SiteSettings): Compat {
  const { exports = "ALL", ...mapping } = site;
  const partitions = new Map(Object.entries(mapping.partitions ?? {}));
  const accounts = new Map(Object.entries(mapping.accounts ?? {}));
  const qos = Object.entries(mapping.qos ?? DEFAULT_QOS_CLASSES);
  return {
    mapping,
    exports,
    partitionOf: (vcluster) => [...partitions].find(([, stands]) => stands === vcluster)?.[0] ?? vcluster,
    vclusterOf: (partition) => partitions.get(partition) ?? partition,
    accountOf: (tenant) => [...accounts].find(([, stands]) => stands === tenant)?.[0] ?? tenant,
    tenantOf: (account) => accounts.get(account) ?? account,
    qosOf: (value) => (value === undefined ? "normal" : (nearest(qos, value) ?? `class${value}`)),
  };
}

/** Returns the QoS with the highest class at or below `value`. */
function nearest(qos: readonly (readonly [string, number])[], value: number): string | undefined {
  const below = qos.filter(([, stands]) => stands <= value);
  const most = Math.max(...below.map(([, stands]) => stands));
  return below.find(([, stands]) => stands === most)?.[0];
}

function tableOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(`${where} must hold name: value lines`);
  }
  return value as Readonly<Record<string, unknown>>;
}

const wrong = (detail: string): ProblemError =>
  new ProblemError("invalid_argument", { detail, hint: "See docs/users/coming-from-slurm.md for an example." });

function defaultPath(env: NodeJS.ProcessEnv): string | null {
  const base = env.XDG_CONFIG_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".config"));
  return base === null ? null : join(base, "lattice", "compat.yaml");
}
