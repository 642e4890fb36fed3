// `lattice update`: changes an allocation. A new program, variable or probe of a service replaces its nodes one after
// the other, so the command asks for confirmation.

import type { Allocation, LivenessProbe, ScalePolicy, UpdateAllocationRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { confirmOnTerminal } from "../output/confirm.ts";
import { collect, collectPair } from "../parse/collect.ts";
import { parseCount } from "../parse/count.ts";
import { parseDuration } from "../parse/duration.ts";
import { parseProbe } from "../parse/probe.ts";
import { inFlagNames } from "./submit/flag-names.ts";

interface UpdateFlags extends ServiceFlags {
  readonly walltime?: number;
  readonly walltimeSeconds?: number;
  readonly class?: number;
  readonly preemptionClass?: number;
  readonly name?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly removeTag?: readonly string[];
  readonly yes?: boolean;
}

const MAX_SECONDS = 10 * 365 * 86_400;
const MAX_NODES = 1_000_000;

export function define(command: Command): void {
  const parseClass = (text: string): number => parseCount(text, 0, 10);
  const parseNodes = (text: string): number => parseCount(text, 1, MAX_NODES);
  command
    .argument("<id>", "allocation")
    .option("--walltime <time>", "walltime from the start: 90m, 72h or HH:MM:SS", parseDuration)
    .addOption(
      new Option("--walltime-seconds <seconds>", "walltime in seconds")
        .argParser((text) => parseCount(text, 1, MAX_SECONDS))
        .conflicts("walltime"),
    )
    .option("--preemption-class <class>", "0 (preempted first) to 10 (never)", parseClass)
    .addOption(
      new Option("--class <class>", "same as --preemption-class").argParser(parseClass).conflicts("preemptionClass"),
    )
    .option("--name <name>", "new name")
    .option("--tag <key=value>", "tag to set (repeatable)", collectPair)
    .option("--remove-tag <key>", "tag to remove (repeatable)", collect)
    .option("--entrypoint <command>", "service: new command")
    .option("--image <image>", "service: new container image")
    .option("--env <key=value>", "service: variable to set (repeatable)", collectPair)
    .option("--probe <probe>", "service: liveness probe tcp:8080, http:8080/path[,period=5,...], or none", probeOrNone)
    .option("--min-nodes <count>", "reactive service: minimum number of nodes", parseNodes)
    .option("--max-nodes <count>", "reactive service: maximum number of nodes", parseNodes)
    .option("--scale-metric <name>", "reactive service: metric to scale by")
    .option("--scale-target <value>", "reactive service: target of the metric, such as 100, 80% or 250ms")
    .option("--yes", "do not ask for confirmation")
    .action(async (word: string, flags: UpdateFlags) => {
      const context = await createContext(command);
      const id = await workToChange(context, word);
      const isTaken = (flag: string): boolean => command.options.some(({ long }) => long === flag);
      await change(context, id, flags).catch((error: unknown) => {
        // JSON output keeps the server's field names.
        throw error instanceof ProblemError && !context.print.structured
          ? ProblemError.of(inFlagNames(error.problem, isTaken))
          : error;
      });
    });
}

const probeOrNone = (text: string): LivenessProbe | "none" => (text === "none" ? text : parseProbe(text));

async function change({ client, print }: Context, id: string, flags: UpdateFlags): Promise<void> {
  const needsConfirmation = replacesNodes(flags) && flags.yes !== true && process.stdin.isTTY === true;
  const now = needsConfirmation || changesPart(flags) ? await client.get(id) : null;
  if (rescales(flags) && now?.spec?.lifecycle?.scale_policy === undefined) throw notReactive(id);
  const changes = changeOf(flags, now);
  if (Object.keys(changes).length === 0) throw new InvalidArgumentError("no change is given");
  if (needsConfirmation && now !== null && isRunningService(now)) {
    const question = `Replace the nodes of service ${id} one after the other?`;
    await confirmOnTerminal(flags.yes, question, `service ${id} not updated`);
  }
  const { randomUUID } = await import("node:crypto");
  const { allocation } = await client.update(id, changes, { requestId: randomUUID() });
  if (print.structured) return print.document(allocation);
  const outdated = allocation.scaling?.outdated_nodes ?? 0;
  const more = outdated === 0 ? "" : `; ${outdated} of its nodes are being replaced`;
  print.done(allocation.id, `Updated allocation ${allocation.id}${more}`);
}

const notReactive = (id: string): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: `allocation ${id} is not a reactive service, so it has no scale policy`,
    hint: "Submit the service with --reactive.",
  });

/** For any other allocation the server rejects the change. */
const isRunningService = ({ state, spec }: Allocation): boolean =>
  (state === "running" || state === "staging") && (spec?.lifecycle?.type ?? "bounded") !== "bounded";

function changeOf(flags: UpdateFlags, now: Allocation | null): UpdateAllocationRequest {
  const walltime = flags.walltime ?? flags.walltimeSeconds;
  const preemptionClass = flags.preemptionClass ?? flags.class;
  const service = serviceChange(flags, now?.spec);
  return {
    ...(walltime === undefined ? {} : { walltime_seconds: walltime }),
    ...(preemptionClass === undefined ? {} : { preemption_class: preemptionClass }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.tag === undefined ? {} : { set_tags: flags.tag }),
    ...(flags.removeTag === undefined ? {} : { remove_tags: flags.removeTag }),
    ...(service === null ? {} : { service }),
  };
}

interface ServiceFlags {
  readonly entrypoint?: string;
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly probe?: LivenessProbe | "none";
  readonly minNodes?: number;
  readonly maxNodes?: number;
  readonly scaleMetric?: string;
  readonly scaleTarget?: string;
}

type ServiceChange = NonNullable<UpdateAllocationRequest["service"]>;

const changesEnvironment = ({ image, env }: ServiceFlags): boolean => image !== undefined || env !== undefined;

const rescales = ({ minNodes, maxNodes, scaleMetric, scaleTarget }: ServiceFlags): boolean =>
  [minNodes, maxNodes, scaleMetric, scaleTarget].some((flag) => flag !== undefined);

/** Whether the nodes of a running service would be replaced. */
const replacesNodes = (flags: ServiceFlags): boolean =>
  changesEnvironment(flags) || flags.entrypoint !== undefined || flags.probe !== undefined;

/** Whether the current values must be read first. */
const changesPart = (flags: ServiceFlags): boolean => changesEnvironment(flags) || rescales(flags);

/** Returns null when no service flag is given. */
function serviceChange(flags: ServiceFlags, now: Allocation["spec"]): ServiceChange | null {
  if (!replacesNodes(flags) && !rescales(flags)) return null;
  return {
    ...(flags.entrypoint === undefined ? {} : { entrypoint: flags.entrypoint }),
    ...(changesEnvironment(flags) ? { environment: environmentOf(flags, now?.environment ?? {}) } : {}),
    ...(rescales(flags) ? { scale_policy: policyOf(flags, now?.lifecycle?.scale_policy ?? {}) } : {}),
    ...probeOf(flags.probe),
  };
}

const environmentOf = (
  { image, env }: ServiceFlags,
  now: NonNullable<ServiceChange["environment"]>,
): NonNullable<ServiceChange["environment"]> => ({
  ...now,
  ...(image === undefined ? {} : { image }),
  variables: { ...now.variables, ...env },
});

const policyOf = ({ minNodes, maxNodes, scaleMetric, scaleTarget }: ServiceFlags, now: ScalePolicy): ScalePolicy => ({
  ...now,
  ...(minNodes === undefined ? {} : { min: minNodes }),
  ...(maxNodes === undefined ? {} : { max: maxNodes }),
  ...(scaleMetric === undefined ? {} : { metric: scaleMetric }),
  ...(scaleTarget === undefined ? {} : { target: scaleTarget }),
});

function probeOf(probe: ServiceFlags["probe"]): ServiceChange {
  if (probe === undefined) return {};
  return probe === "none" ? { remove_liveness_probe: true } : { liveness_probe: probe };
}
