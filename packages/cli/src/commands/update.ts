// `lattice update`: changes what may still change of an allocation. A service can be given another program, other
// variables or another probe; its nodes are then replaced one after the other, so that is asked first.

import type { Allocation, AllocationUpdate, LivenessProbe } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { askOnTerminal } from "../output/ask-first.ts";
import { parseCount } from "../parse/count.ts";
import { gather, gatherPair } from "../parse/pairs.ts";
import { parseProbe } from "../parse/probe.ts";
import { parseSpan } from "../parse/span.ts";
import { inFlagNames } from "./submit/flag-names.ts";
import { changesPart, replacesNodes, rescales, type ServiceFlags, serviceChange } from "./update/service-change.ts";

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

const MOST_SECONDS = 10 * 365 * 86_400;
const MOST_NODES = 1_000_000;

export function define(command: Command): void {
  const parseClass = (text: string): number => parseCount(text, 0, 10);
  const parseNodes = (text: string): number => parseCount(text, 1, MOST_NODES);
  command
    .argument("<id>", "allocation")
    .option("--walltime <time>", "from its start: 90m, 72h or HH:MM:SS", parseSpan)
    .addOption(
      new Option("--walltime-seconds <seconds>", "the same in seconds")
        .argParser((text) => parseCount(text, 1, MOST_SECONDS))
        .conflicts("walltime"),
    )
    .option("--preemption-class <class>", "0 (preempted first) to 10 (never)", parseClass)
    .addOption(new Option("--class <class>", "the same").argParser(parseClass).conflicts("preemptionClass"))
    .option("--name <name>", "what it is called")
    .option("--tag <key=value>", "a tag to set; may be repeated", gatherPair)
    .option("--remove-tag <key>", "a tag to remove; may be repeated", gather)
    .option("--entrypoint <command>", "of a service: what it is to run from now on")
    .option("--image <image>", "of a service: the container image")
    .option("--env <key=value>", "of a service: a variable; may be repeated", gatherPair)
    .option("--probe <probe>", "of a service: tcp:8080, http:8080/path[,period=5,...], or none", probeOrNone)
    .option("--min-nodes <count>", "of a reactive service: least nodes", parseNodes)
    .option("--max-nodes <count>", "of a reactive service: most nodes", parseNodes)
    .option("--scale-metric <name>", "of a reactive service: the metric")
    .option("--scale-target <value>", "of a reactive service: its target, as 100, 80% or 250ms")
    .option("--yes", "do not ask before the nodes of a service are replaced")
    .action(async (id: string, flags: UpdateFlags) => {
      const context = await createContext(command);
      const isTaken = (flag: string): boolean => command.options.some(({ long }) => long === flag);
      await change(context, id, flags).catch((error: unknown) => {
        // A program reads the server's names.
        throw error instanceof ProblemError && !context.print.structured
          ? ProblemError.of(inFlagNames(error.problem, isTaken))
          : error;
      });
    });
}

const probeOrNone = (text: string): LivenessProbe | "none" => (text === "none" ? text : parseProbe(text));

async function change({ client, print }: Context, id: string, flags: UpdateFlags): Promise<void> {
  const asks = replacesNodes(flags) && flags.yes !== true && process.stdin.isTTY === true;
  const now = asks || changesPart(flags) ? await client.get(id) : null;
  if (rescales(flags) && now?.spec?.lifecycle?.scale_policy === undefined) throw notReactive(id);
  const wanted = changeOf(flags, now);
  if (Object.keys(wanted).length === 0) throw new InvalidArgumentError("nothing to change is named");
  if (asks && now !== null && isRunningService(now)) {
    const question = `Replace the nodes of service ${id} one after the other?`;
    await askOnTerminal(flags.yes, question, `service ${id} not updated`);
  }
  const { randomUUID } = await import("node:crypto");
  const { allocation } = await client.update(id, wanted, { requestId: randomUUID() });
  if (print.structured) return print.document(allocation);
  const outdated = allocation.scaling?.outdated_nodes ?? 0;
  const more = outdated === 0 ? "" : `; ${outdated} of its nodes are being replaced`;
  print.done(allocation.id, `Updated allocation ${allocation.id}${more}`);
}

const notReactive = (id: string): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: `allocation ${id} has no policy to scale by: only a reactive service does`,
    hint: "Submit it with --reactive.",
  });

/** Of anything else the server refuses the change. */
const isRunningService = ({ state, spec }: Allocation): boolean =>
  (state === "running" || state === "staging") && (spec?.lifecycle?.type ?? "bounded") !== "bounded";

function changeOf(flags: UpdateFlags, now: Allocation | null): AllocationUpdate {
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
