// `lattice admin vcluster`: vClusters, each a queue with its own scheduler.

import { randomUUID } from "node:crypto";
import type { SchedulerType, UpdateVClusterRequest, VCluster } from "@lattice/sdk";
import { ProblemError, parseWalltime } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../../context.ts";
import { requireConfirmation } from "../../output/confirm.ts";
import { forEachId } from "../../output/for-each-id.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { hoursMinutesSeconds, localTime } from "../../output/time.ts";
import { parseAmount } from "../../parse/amount.ts";
import { parseCount } from "../../parse/count.ts";
import { parseDuration } from "../../parse/duration.ts";
import { expandHosts } from "../../parse/hosts.ts";
import { requireName } from "../../parse/name.ts";
import { dashed, parseScheduler, SCHEDULERS } from "../../parse/scheduler.ts";
import { showFields } from "./fields.ts";
import { showQueue } from "./vcluster-queue.ts";
import { addSharingFlags, type SharingFlags, sharingFields, sharingOf } from "./vcluster-sharing.ts";

const WEIGHTS = {
  priority: "priority",
  waitTime: "wait_time",
  fairShare: "fair_share",
  topology: "topology",
  dataReadiness: "data_readiness",
  backlog: "backlog",
  energy: "energy",
  checkpoint: "checkpoint",
  conformance: "conformance",
} as const;

const DEFAULT_LIMIT = 50;

type WeightFlags = { readonly [Flag in keyof typeof WEIGHTS]?: number };

interface VClusterFlags extends WeightFlags, SharingFlags {
  readonly name?: string;
  readonly description?: string;
  readonly nodes?: string;
  readonly scheduler?: SchedulerType;
  readonly schedulerType?: SchedulerType;
  readonly tenant?: string;
  readonly interval?: number;
  readonly cycleInterval?: number;
  readonly backfillDepth?: number;
  readonly defaultWalltime?: number;
  readonly maxWalltime?: number;
}

export function defineVCluster(command: Command): void {
  const create = addSettingFlags(command.command("create").description("Create a vCluster"));
  create
    .addOption(
      new Option("--scheduler <kind>", `scheduler: ${SCHEDULERS.map(dashed).join(", ")}`).argParser(parseScheduler),
    )
    .addOption(new Option("--scheduler-type <kind>", "same as --scheduler").argParser(parseScheduler).hideHelp());
  create.action(async (word: string | undefined, flags: VClusterFlags) => {
    const context = await createContext(create);
    const scheduler = flags.scheduler ?? flags.schedulerType;
    const { tenant } = context.settings;
    const id = requireName("vCluster", word, flags.name);
    const vcluster = {
      id,
      ...(scheduler === undefined ? {} : { scheduler }),
      ...(tenant === undefined ? {} : { tenant }),
      ...settingsOf(flags),
    };
    const nodes = namedNodes(flags);
    const answer = await context.client.vclusters.create(vcluster, { requestId: randomUUID() });
    warn(context, answer.warnings);
    await assignNodes(context, id, nodes);
    await showVCluster(context, answer.vcluster);
  });

  for (const [name, summary] of [
    ["set-config", "Change a vCluster"],
    ["set-weights", "Change the weights of a vCluster"],
  ] as const) {
    const update = addSettingFlags(command.command(name).description(summary));
    if (name === "set-config") update.alias("update");
    update.action(async (word: string | undefined, flags: VClusterFlags) => {
      const context = await createContext(update);
      const id = requireName("vCluster", word, flags.name);
      const changes = settingsOf(flags);
      const nodes = namedNodes(flags);
      const changed = Object.keys(changes).length > 0;
      if (!changed && nodes.length === 0) throw nothingNamed(name);
      const answer = changed ? await context.client.vclusters.update(id, changes, { requestId: randomUUID() }) : null;
      warn(context, answer?.warnings);
      await assignNodes(context, id, nodes);
      await showVCluster(context, answer?.vcluster ?? (await context.client.vclusters.get(id)));
    });
  }

  const list = command.command("list").description("Show all vClusters");
  list.action(async () => showVClusters(await createContext(list)));

  const show = command.command("show").alias("get").description("Show one vCluster");
  show.argument("[name]", "vCluster").option("--name <name>", "vCluster");
  show.action(async (word: string | undefined, flags: VClusterFlags) => {
    const context = await createContext(show);
    await showVCluster(context, await context.client.vclusters.get(requireName("vCluster", word, flags.name)));
  });

  const queue = command.command("queue").description("Show pending allocations in scheduling order");
  queue
    .argument("[name]", "vCluster")
    .option("--name <name>", "vCluster")
    .option("--limit <count>", "how many to show", (text) => parseCount(text, 1, 100_000), DEFAULT_LIMIT)
    .action(async (word: string | undefined, flags: VClusterFlags & { readonly limit: number }) =>
      showQueue(await createContext(queue), requireName("vCluster", word, flags.name), flags.limit),
    );

  const remove = command.command("delete").description("Delete a vCluster without allocations and nodes");
  remove
    .argument("[name]", "vCluster")
    .option("--name <name>", "vCluster")
    .option("--yes", "do not ask for confirmation");
  remove.action(async (word: string | undefined, flags: VClusterFlags & { readonly yes?: boolean }) => {
    const { client, print } = await createContext(remove);
    const id = requireName("vCluster", word, flags.name);
    await requireConfirmation(flags.yes, `Delete the vCluster ${id}?`, `vCluster ${id} not deleted`);
    const answer = await client.vclusters.delete(id, { requestId: randomUUID() });
    if (print.structured) return print.document(answer);
    print.done(id, `DeleteResponse vCluster ${id}`);
  });
}

const namedNodes = ({ nodes }: VClusterFlags): readonly string[] => (nodes === undefined ? [] : expandHosts([nodes]));

async function assignNodes({ client, print }: Context, vcluster: string, nodes: readonly string[]): Promise<void> {
  const { done, finish } = await forEachId(nodes, (id) =>
    client.nodes.assign(id, vcluster, { requestId: randomUUID() }),
  );
  if (done.length > 0) print.note(`Assigned ${done.length} nodes to ${vcluster}.`);
  finish();
}

function warn({ print }: Context, warnings: readonly string[] = []): void {
  for (const warning of warnings) print.note(`Warning: ${warning}`);
}

const nothingNamed = (command: string): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "no change is given",
    hint: `For example: lattice admin vcluster ${command} hpc-batch ${command === "set-weights" ? "--priority=0.2" : "--max-walltime=24h"}`,
  });

function addSettingFlags(command: Command): Command {
  command
    .argument("[name]", "vCluster")
    .option("--name <name>", "vCluster")
    .option("--description <text>", "description")
    .option("--nodes <names>", "home nodes, such as n[0-199]")
    .option("--cycle-interval <time>", "time between scheduling cycles, such as 15s", parseDuration)
    .addOption(
      new Option("--interval <seconds>", "same as --cycle-interval")
        .argParser((text) => parseCount(text, 1, 3600))
        .hideHelp(),
    )
    .option("--backfill-depth <count>", "number of pending allocations with a reservation", (text) =>
      parseCount(text, 0, 10_000),
    )
    .option("--default-walltime <time>", "walltime of allocations without one", (text) =>
      parseWalltime(text, "--default-walltime"),
    )
    .option("--max-walltime <time>", "longest allowed walltime", (text) => parseWalltime(text, "--max-walltime"));
  addSharingFlags(command);
  for (const factor of Object.values(WEIGHTS)) {
    command.option(`--${dashed(factor)} <weight>`, `weight of ${factor.replaceAll("_", " ")}`, parseAmount);
  }
  return command;
}

function settingsOf(flags: VClusterFlags): UpdateVClusterRequest {
  const interval = flags.cycleInterval ?? flags.interval;
  const weights = Object.entries(WEIGHTS).flatMap(([flag, name]) => {
    const value = flags[flag as keyof typeof WEIGHTS];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...(flags.description === undefined ? {} : { description: flags.description }),
    ...(interval === undefined ? {} : { cycle_interval_seconds: interval }),
    ...(flags.backfillDepth === undefined ? {} : { backfill_depth: flags.backfillDepth }),
    ...(flags.defaultWalltime === undefined ? {} : { default_walltime_seconds: flags.defaultWalltime }),
    ...(flags.maxWalltime === undefined ? {} : { max_walltime_seconds: flags.maxWalltime }),
    ...sharingOf(flags),
    ...(weights.length === 0 ? {} : { weights: Object.fromEntries(weights) }),
  };
}

async function showVClusters({ client, print, settings }: Context): Promise<void> {
  const rows: VCluster[] = [];
  let token: string | undefined;
  do {
    const page = await client.vclusters.list(token === undefined ? {} : { page_token: token });
    rows.push(...(page.vclusters ?? []));
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined);
  if (print.structured) return print.document({ vclusters: rows });
  if (settings.quiet) return print.lines(rows.map(({ id }) => id));
  print.table(columns, rows);
}

const duration = (seconds: number | undefined): string =>
  seconds === undefined || seconds === 0 ? ABSENT : hoursMinutesSeconds(seconds);

const columns: readonly Column<VCluster>[] = [
  { header: "VCLUSTER", value: ({ id, is_default }) => (is_default === true ? `${id} (default)` : id) },
  { header: "SCHEDULER", value: ({ scheduler }) => dashed(scheduler ?? ABSENT) },
  { header: "TENANT", value: ({ tenant }) => tenant || "all" },
  { header: "PENDING", value: ({ pending }) => String(pending ?? 0), align: "right" },
  { header: "RUNNING", value: ({ running }) => String(running ?? 0), align: "right" },
  { header: "MAX WALLTIME", value: ({ max_walltime_seconds }) => duration(max_walltime_seconds), optional: true },
  { header: "DESCRIPTION", value: ({ description }) => description || ABSENT, flexible: true },
];

async function showVCluster({ print, settings }: Context, vcluster: VCluster): Promise<void> {
  if (print.structured) return print.document(vcluster);
  if (settings.quiet) return print.line(vcluster.id);
  showFields(print, [
    ["vCluster", vcluster.id],
    ["Description", vcluster.description],
    ["Default", vcluster.is_default === true ? true : undefined],
    ["Tenant", vcluster.tenant || "all"],
    ["Scheduler", dashed(vcluster.scheduler ?? "")],
    ["Pending", vcluster.pending ?? 0],
    ["Running", vcluster.running ?? 0],
    [
      "Cycle interval",
      vcluster.cycle_interval_seconds === undefined ? undefined : `${vcluster.cycle_interval_seconds} s`,
    ],
    ["Backfill depth", vcluster.backfill_depth],
    ["Default walltime", duration(vcluster.default_walltime_seconds)],
    ["Longest walltime", duration(vcluster.max_walltime_seconds)],
    ...sharingFields(vcluster),
    [
      "Weights",
      Object.entries(vcluster.weights ?? {})
        .map(([name, weight]) => `${name}=${weight}`)
        .join(", "),
    ],
    ["Created", localTime(vcluster.created_at)],
  ]);
}
