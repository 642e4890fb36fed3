// Weight profiles from a YAML file with one block per vCluster and nine weights in each, as in the tuning guide. Only
// the ratios count: weights that do not sum to 1 are scaled, with a warning; a negative or non-finite weight is
// refused. A block may also set `scheduler` and `backfill_depth`.

import { type Factor, parseVClusterId, type SchedulerKind, WEIGHT_PROFILES } from "@lattice/core";
import { readYaml, type YamlValue } from "../yaml-file.ts";
import { DEFAULT_DEPTH, FACTORS, inThousandths, type Profile, type Profiles } from "./profile.ts";

export function readProfiles(file: string): Profiles {
  const blocks = readYaml(file);
  const warnings: string[] = [];
  const profiles = blocks
    .entries()
    .map(([name, block]) => profileOf(name, block, (text) => warnings.push(`${file}:${text}`)));
  if (profiles.length === 0) throw blocks.bad("names no vCluster");
  return { profiles, warnings };
}

function profileOf(name: string, block: YamlValue, warn: (text: string) => void): Profile {
  const vcluster = parseVClusterId(name);
  if (vcluster === null)
    throw block.bad("is no name for a vCluster: use letters, digits, dots, dashes and underscores");
  const weights = new Map<Factor, number>();
  let scheduler: SchedulerKind = "hpc_backfill";
  let backfillDepth = DEFAULT_DEPTH;
  for (const [key, value] of block.entries()) {
    if (key === "scheduler") scheduler = schedulerOf(value);
    else if (key === "backfill_depth") backfillDepth = depthOf(value);
    else weights.set(factorOf(key, value), weightOf(value));
  }
  const sum = [...weights.values()].reduce((total, weight) => total + weight, 0);
  if (!(sum > 0)) throw block.bad("has no weight above zero");
  if (Math.abs(sum - 1) > TOLERANCE) {
    warn(`${block.line}: the weights of "${name}" sum to ${Number(sum.toFixed(6))}, not 1: scaled`);
  }
  return { vcluster, scheduler, weights: inThousandths(weights, sum), backfillDepth };
}

/** The limit of a vCluster. */
const MAX_DEPTH = 10_000;

/** Two decimals per weight cannot sum more exactly than this. */
const TOLERANCE = 1e-6;

function factorOf(key: string, value: YamlValue): Factor {
  const factor = FACTORS.find((name) => name === key);
  if (factor === undefined) throw value.bad(`is no weight; there are: ${FACTORS.join(", ")}`);
  return factor;
}

function weightOf(value: YamlValue): number {
  const weight = value.number();
  if (!Number.isFinite(weight)) throw value.bad(`must be a finite number, not ${weight}`);
  if (weight < 0) throw value.bad(`must not be negative: ${weight}`);
  return weight;
}

function schedulerOf(value: YamlValue): SchedulerKind {
  const name = value.text();
  const kinds = Object.keys(WEIGHT_PROFILES) as SchedulerKind[];
  const kind = kinds.find((known) => known === name);
  if (kind === undefined) throw value.bad(`must be one of ${kinds.join(", ")}`);
  return kind;
}

function depthOf(value: YamlValue): number {
  const depth = value.number();
  if (Number.isInteger(depth) && depth >= 0 && depth <= MAX_DEPTH) return depth;
  throw value.bad(`must be a whole number from 0 to ${MAX_DEPTH}`);
}
