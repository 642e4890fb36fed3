// The flags by which a vCluster shares nodes with others: whether it has others stopped and may be
// stopped, whether it borrows, and on what terms it lends.

import type { Lending, VCluster, VClusterSettings } from "@lattice/sdk";
import { parseWalltime } from "@lattice/wire";
import { type Command, InvalidArgumentError } from "commander";
import { hoursMinutesSeconds } from "../../output/time.ts";
import { parseCount } from "../../parse/count.ts";

type Preemptible = NonNullable<VClusterSettings["preemptible"]>;

const PREEMPTIBLE: readonly Preemptible[] = ["always", "borrowed", "never"];
const MAX_NODES = 1_000_000;
const MOST_VICTIMS = 64;

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
    .option("--preempts", "its waiting work may have work of lower classes stopped")
    .option("--no-preempts", "it may not")
    .option("--preemptible <which>", `which running work may be stopped: ${PREEMPTIBLE.join(", ")}`, parsePreemptible)
    .option("--near-completion-threshold <time>", "work this near to its walltime is not stopped (5m)", (text) =>
      parseThreshold(text),
    )
    .option("--max-victims <count>", "so many are stopped for one of its own at most (3)", (text) =>
      parseCount(text, 1, MOST_VICTIMS),
    )
    .option("--borrows", "use idle nodes of vClusters that lend theirs")
    .option("--no-borrows", "use none")
    .option("--share-nodes", "work that asks for less than a node shares one")
    .option("--no-share-nodes", "all work has its nodes to itself")
    .option("--lends", "lend idle home nodes to other vClusters")
    .option("--no-lends", "lend none")
    .option("--keep-nodes <count>", "home nodes that are never lent", (text) => parseCount(text, 0, MAX_NODES))
    .option("--lend-max-class <class>", "the highest class that may borrow", (text) => parseCount(text, 0, 10))
    .option("--lend-max-time <time>", "the longest walltime that may borrow", (text) =>
      parseWalltime(text, "--lend-max-time"),
    )
    .option("--lend-return-grace <seconds>", "time to end when a node is taken back", (text) =>
      parseCount(text, 1, 3600),
    );
}

/** Only what was asked for. */
export function sharingOf(
  flags: SharingFlags,
): Pick<
  VClusterSettings,
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
    ["Stops others", preempts === true ? `lower classes, ${most ?? 3} at most for one` : "never"],
    [
      "May be stopped",
      near === 0 ? preemptible : `${preemptible}, but not within ${hoursMinutesSeconds(near)} of its end`,
    ],
    ["Borrows nodes", borrows === true ? "yes" : "no"],
    ["Shares nodes", shares === true ? "among its own work" : "no"],
    ["Lends nodes", lending === undefined ? "no" : lendingText(lending)],
  ] as const;

function lendingText({ keep_nodes = 0, max_class = 0, max_duration_seconds = 0, return_grace_seconds = 0 }: Lending) {
  const longest = max_duration_seconds === 0 ? "" : `, up to ${hoursMinutesSeconds(max_duration_seconds)}`;
  return `class ${max_class} and below${longest}; keeps ${keep_nodes}, back within ${return_grace_seconds} s`;
}

/** None at all is a threshold too. */
const parseThreshold = (text: string): number =>
  text === "0" ? 0 : parseWalltime(text, "--near-completion-threshold");

function parsePreemptible(text: string): Preemptible {
  const found = PREEMPTIBLE.find((one) => one === text.toLowerCase());
  if (found === undefined) throw new InvalidArgumentError(`Must be one of ${PREEMPTIBLE.join(", ")}.`);
  return found;
}
