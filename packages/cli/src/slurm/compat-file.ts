// A site's names for Slurm users: which vCluster a partition is, and which preemption class a QoS. Read
// from $LATTICE_COMPAT or ~/.config/lattice/compat.yaml; without a file every partition is the vCluster
// of its name. Unknown keys are refused by name, as in the other configuration file.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_QOS_CLASSES, ProblemError, type SlurmMapping } from "@lattice/wire";

export interface Compat {
  readonly mapping: SlurmMapping;
  /** The name of the partition that stands for a vCluster. */
  readonly partitionOf: (vcluster: string) => string;
  readonly vclusterOf: (partition: string) => string;
  readonly qosOf: (preemptionClass: number | undefined) => string;
}

const KEYS = ["partition_mapping", "qos_mapping"] as const;

export async function readCompat(env: NodeJS.ProcessEnv): Promise<Compat> {
  const named = env.LATTICE_COMPAT === "" ? undefined : env.LATTICE_COMPAT;
  const path = named ?? defaultPath(env);
  if (path === null || (named === undefined && !existsSync(path))) return compatOf({});
  let document: unknown;
  try {
    const text = readFileSync(path, "utf8");
    const { parseYaml } = await import("../output/yaml.ts");
    document = parseYaml(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw wrong(`${path} cannot be read: ${why}`);
  }
  return compatOf(checkCompat(document ?? {}, path));
}

export function checkCompat(document: unknown, path: string): SlurmMapping {
  const top = tableOf(document, path);
  const unknown = Object.keys(top).find((key) => !(KEYS as readonly string[]).includes(key));
  if (unknown !== undefined) throw wrong(`${path}: unknown key "${unknown}"; known are ${KEYS.join(" and ")}`);
  const partitions = Object.entries(tableOf(top.partition_mapping ?? {}, `${path}: partition_mapping`));
  const qos = Object.entries(tableOf(top.qos_mapping ?? {}, `${path}: qos_mapping`));
  const badPartition = partitions.find(([, vcluster]) => typeof vcluster !== "string" || vcluster === "");
  if (badPartition !== undefined) throw wrong(`${path}: partition "${badPartition[0]}" must name a vCluster`);
  const badQos = qos.find(([, value]) => typeof value !== "number" || !Number.isInteger(value) || value < 0);
  if (badQos !== undefined) throw wrong(`${path}: QoS "${badQos[0]}" must be a preemption class, a whole number`);
  return {
    ...(partitions.length === 0 ? {} : { partitions: Object.fromEntries(partitions) as Record<string, string> }),
    ...(qos.length === 0
      ? {}
      : { qos: Object.fromEntries(qos.map(([name, value]) => [name.toLowerCase(), value as number])) }),
  };
}

export function compatOf(mapping: SlurmMapping): Compat {
  const partitions = new Map(Object.entries(mapping.partitions ?? {}));
  const qos = Object.entries(mapping.qos ?? DEFAULT_QOS_CLASSES);
  return {
    mapping,
    partitionOf: (vcluster) => [...partitions].find(([, stands]) => stands === vcluster)?.[0] ?? vcluster,
    vclusterOf: (partition) => partitions.get(partition) ?? partition,
    qosOf: (value) =>
      value === undefined ? "normal" : (qos.find(([, stands]) => stands === value)?.[0] ?? `class${value}`),
  };
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
