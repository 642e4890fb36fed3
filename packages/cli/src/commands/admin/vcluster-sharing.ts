// The flags for sharing nodes between vClusters: preemption, borrowing, and the terms of lending.

import type { Lending, UpdateVClusterRequest, VCluster } from "@lattice/sdk";
import { parseWalltime } from "@lattice/wire";
import { type Command, InvalidArgumentError } from "commander";
import { hoursMinutesSeconds } from "../../output/time.ts";
import { parseCount } from "../../parse/count.ts";

type Preemptible = NonNullable<UpdateVClusterRequest["preemptible"]>;

const PREEMPTIBLE: readonly Preemptible[] = ["always", "borrowed", "never"];
const MAX_NODES = 1_000_000;
const MAX_VICTIMS = 64;

export interface SharingFlags {
  readonly preempts?: boolean;
  readonly preemptible?: Preemptible;
  readonly nearCompletionThreshold?: number;
  readonly maxVictims?: number;
  readonly borrows?: boolean;
  readonly shareNodes?: boolean;
  readonly lends?: boolean;
  readonly keepNodes?: number;
  readonly lendMaxClass?: number;
  readonly lendMaxTime?: number;
  readonly lendReturnGrace?: number;
}

export function addSharingFlags(command: Command): void {
  command
    .option("--preempts", "its pending allocations may preempt lower classes")
    .option("--no-preempts", "never preempt")
    .option(
      "--preemptible <which>",
      `which of its allocations may be preempted: ${PREEMPTIBLE.join(", ")}`,
      parsePreemptible,
    )
    .option(
      "--near-completion-threshold <time>",
      "never preempt allocations this close to their walltime (default: 5m)",
      (text) => parseThreshold(text),
    )
    .option("--max-victims <count>", "maximum number of allocations preempted for one (default: 3)", (text) =>
      parseCount(text, 1, MAX_VICTIMS),
    )
    .option("--borrows", "use idle nodes of vClusters that lend theirs")
    .option("--no-borrows", "borrow no nodes")
    .option("--share-nodes", "allocations that request less than a node share nodes")
    .option("--no-share-nodes", "every allocation has its nodes to itself")
    .option("--lends", "lend idle home nodes to other vClusters")
    .option("--no-lends", "lend no nodes")
    .option("--keep-nodes <count>", "home nodes that are never lent", (text) => parseCount(text, 0, MAX_NODES))
    .option("--lend-max-class <class>", "highest preemption class that may borrow", (text) => parseCount(text, 0, 10))
    .option("--lend-max-time <time>", "longest walltime that may borrow", (text) =>
      parseWalltime(text, "--lend-max-time"),
    )
    .option("--lend-return-grace <seconds>", "grace period when a lent node is reclaimed", (text) =>
      parseCount(text, 1, 3600),
    );
}

/** Returns only the settings whose flags were given. */
export function sharingOf(
  flags: SharingFlags,
): Pick<
  UpdateVClusterRequest,
  | "preempts"
  | "preemptible"
  | "borrows"
  | "lending"
  | "near_completion_threshold_seconds"
  | "max_victims"
  | "shares_nodes"
> {
  const lending = lendingOf(flags);
  const near = flags.nearCompletionThreshold;
  return {
    ...(near === undefined ? {} : { near_completion_threshold_seconds: near }),
    ...(flags.maxVictims === undefined ? {} : { max_victims: flags.maxVictims }),
    ...(flags.preempts === undefined ? {} : { preempts: flags.preempts }),
    ...(flags.preemptible === undefined ? {} : { preemptible: flags.preemptible }),
    ...(flags.borrows === undefined ? {} : { borrows: flags.borrows }),
    ...(flags.shareNodes === undefined ? {} : { shares_nodes: flags.shareNodes }),
    ...(lending === null ? {} : { lending }),
  };
}

function lendingOf({ lends, keepNodes, lendMaxClass, lendMaxTime, lendReturnGrace }: SharingFlags): Lending | null {
  const lending: Lending = {
    ...(lends === undefined ? {} : { enabled: lends }),
    ...(keepNodes === undefined ? {} : { keep_nodes: keepNodes }),
    ...(lendMaxClass === undefined ? {} : { max_class: lendMaxClass }),
    ...(lendMaxTime === undefined ? {} : { max_duration_seconds: lendMaxTime }),
    ...(lendReturnGrace === undefined ? {} : { return_grace_seconds: lendReturnGrace }),
  };
  return Object.keys(lending).length === 0 ? null : lending;
}

export const sharingFields = (vcluster: VCluster) =>
  fieldsOf(vcluster, vcluster.near_completion_threshold_seconds ?? 0);

const fieldsOf = (
  { preempts, preemptible, borrows, lending, max_victims: most, shares_nodes: shares }: VCluster,
  near: number,
) =>
  [
    ["Preempts", preempts === true ? `lower classes, at most ${most ?? 3} for one` : "never"],
    [
      "Preemptible",
      near === 0 ? preemptible : `${preemptible}, but not within ${hoursMinutesSeconds(near)} of the walltime`,
    ],
    ["Borrows nodes", borrows === true ? "yes" : "no"],
    ["Shares nodes", shares === true ? "among its own allocations" : "no"],
    ["Lends nodes", lending === undefined ? "no" : lendingText(lending)],
  ] as const;

function lendingText({ keep_nodes = 0, max_class = 0, max_duration_seconds = 0, return_grace_seconds = 0 }: Lending) {
  const longest = max_duration_seconds === 0 ? "" : `, up to ${hoursMinutesSeconds(max_duration_seconds)}`;
  return `class ${max_class} and below${longest}; keeps ${keep_nodes}, reclaims within ${return_grace_seconds} s`;
}

/** 0 disables the threshold. */
const parseThreshold = (text: string): number =>
  text === "0" ? 0 : parseWalltime(text, "--near-completion-threshold");

function parsePreemptible(text: string): Preemptible {
  const found = PREEMPTIBLE.find((one) => one === text.toLowerCase());
  if (found === undefined) throw new InvalidArgumentError(`Must be one of ${PREEMPTIBLE.join(", ")}.`);
  return found;
}
