// `lattice update`: changes what may still change of an allocation. A service can be given another program, other
// variables or another probe; its nodes are then replaced one after the other.

import type { AllocationUpdate, LivenessProbe } from "@lattice/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import { createContext } from "../context.ts";
import { parseCount } from "../parse/count.ts";
import { gather, gatherPair } from "../parse/pairs.ts";
import { parseProbe } from "../parse/probe.ts";
import { parseSpan } from "../parse/span.ts";

interface UpdateFlags {
  readonly walltime?: number;
  readonly class?: number;
  readonly name?: string;
  readonly tag?: Readonly<Record<string, string>>;
  readonly removeTag?: readonly string[];
  readonly entrypoint?: string;
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly probe?: LivenessProbe | "none";
}

const MOST_SECONDS = 10 * 365 * 86_400;

export function define(command: Command): void {
  command
    .argument("<id>", "allocation")
    .option("--walltime <time>", "from its start: 90m, 72h or HH:MM:SS", parseSpan)
    .addOption(
      new Option("--walltime-seconds <seconds>", "the same in seconds")
        .argParser((text) => parseCount(text, 1, MOST_SECONDS))
        .conflicts("walltime"),
    )
    .option("--class <class>", "preemption class", (text) => parseCount(text, 0, 10))
    .option("--name <name>", "what it is called")
    .option("--tag <key=value>", "a tag to set; may be repeated", gatherPair)
    .option("--remove-tag <key>", "a tag to remove; may be repeated", gather)
    .option("--entrypoint <command>", "of a service: what it is to run from now on")
    .option("--image <image>", "of a service: the container image")
    .option("--env <key=value>", "of a service: a variable; may be repeated", gatherPair)
    .option("--probe <probe>", "of a service: tcp:8080, http:8080/path[,period=5,...], or none", probeOrNone)
    .action(async (id: string, flags: UpdateFlags & { readonly walltimeSeconds?: number }) => {
      const { client, print } = await createContext(command);
      const walltime = flags.walltime ?? flags.walltimeSeconds;
      const service = serviceOf(
        flags,
        flags.env === undefined && flags.image === undefined ? {} : await environmentNow(),
      );
      const change: AllocationUpdate = {
        ...(walltime === undefined ? {} : { walltime_seconds: walltime }),
        ...(flags.class === undefined ? {} : { preemption_class: flags.class }),
        ...(flags.name === undefined ? {} : { name: flags.name }),
        ...(flags.tag === undefined ? {} : { set_tags: flags.tag }),
        ...(flags.removeTag === undefined ? {} : { remove_tags: flags.removeTag }),
        ...(service === null ? {} : { service }),
      };
      if (Object.keys(change).length === 0) throw new InvalidArgumentError("nothing to change is named");
      const { randomUUID } = await import("node:crypto");
      const { allocation } = await client.update(id, change, { requestId: randomUUID() });
      if (print.structured) return print.document(allocation);
      const outdated = allocation.scaling?.outdated_nodes ?? 0;
      const more = outdated === 0 ? "" : `; ${outdated} of its nodes are being replaced`;
      print.done(allocation.id, `Updated allocation ${allocation.id}${more}`);

      async function environmentNow() {
        return (await client.get(id)).spec?.environment ?? {};
      }
    });
}

const probeOrNone = (text: string): LivenessProbe | "none" => (text === "none" ? text : parseProbe(text));

function probeChange(probe: UpdateFlags["probe"]): AllocationUpdate["service"] {
  if (probe === undefined) return {};
  return probe === "none" ? { remove_liveness_probe: true } : { liveness_probe: probe };
}

/** What is not named stays as it is. */
function serviceOf(
  { entrypoint, image, env, probe }: UpdateFlags,
  now: NonNullable<NonNullable<AllocationUpdate["service"]>["environment"]>,
): NonNullable<AllocationUpdate["service"]> | null {
  const environment =
    image === undefined && env === undefined
      ? undefined
      : { ...now, ...(image === undefined ? {} : { image }), variables: { ...now.variables, ...env } };
  if (entrypoint === undefined && environment === undefined && probe === undefined) return null;
  return {
    ...probeChange(probe),
    ...(entrypoint === undefined ? {} : { entrypoint }),
    ...(environment === undefined ? {} : { environment }),
  };
}
