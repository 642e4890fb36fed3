// `lattice cache`: what nodes keep of images, putting one there before it is needed, and taking one away.

import type { CacheAnswer, CachedImage, WhichNodes } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { whileShown } from "../output/progress.ts";
import { ABSENT } from "../output/text.ts";
import { localTime, shortTime } from "../output/time.ts";
import { bytesText } from "./uenv/table.ts";

type WarmOptions = WhichNodes & { readonly sticky?: boolean };

interface Flags {
  readonly image?: string;
  readonly node?: string;
  readonly nodes?: string;
  readonly group?: string;
  readonly sticky?: boolean;
}

export function define(command: Command): void {
  const warm = withNodes(command.command("warm").description("Put an image into the caches of nodes"));
  warm.requiredOption("--image <image>", "for example prgenv-gnu/24.11:v1");
  warm.option("--sticky", "never evict it to make room");
  warm.action(async ({ image = "", sticky = false, ...which }: Flags) => {
    await warmCaches(await createContext(warm), image, { ...nodesOf(which), ...(sticky ? { sticky } : {}) });
  });

  const status = withNodes(command.command("status").description("Show what nodes keep"));
  status.action(async (which: Flags) => {
    const context = await createContext(status);
    await show(context, await context.client.images.cache(nodesOf(which)), "`lattice nodes` shows how nodes stand.");
  });

  const evict = withNodes(command.command("evict").description("Take an image out of the caches of nodes"));
  evict.requiredOption("--image <image>", "name or digest");
  evict.action(async ({ image = "", ...which }: Flags) => {
    const context = await createContext(evict);
    const answer = await context.client.images.evict(image, nodesOf(which));
    await show(context, answer, "`lattice cache status` shows what nodes keep.");
  });
}

export async function warmCaches(context: Context, image: string, where: WarmOptions): Promise<void> {
  const answer = await whileShown(context, `Bringing ${image} to the nodes`, () =>
    context.client.images.warm(image, where),
  );
  const isWithout = answer.nodes?.some(({ error = "" }) => error.startsWith("no registry is configured")) === true;
  const hint = "Ask an administrator: agents find images where their --registry says.";
  await show(context, answer, isWithout ? hint : undefined);
}

export const withNodes = (command: Command): Command =>
  command
    .addOption(new Option("--nodes <ids>", "these nodes, with commas between (default: all that are connected)"))
    .addOption(new Option("--node <id>", "this node").hideHelp())
    .addOption(new Option("--group <name>", "the nodes of this group"));

export function nodesOf({ node, nodes, group }: Pick<Flags, "node" | "nodes" | "group">): WhichNodes {
  const named = [...(nodes ?? "").split(","), node ?? ""].map((id) => id.trim()).filter((id) => id !== "");
  return { ...(named.length === 0 ? {} : { nodes: named }), ...(group === undefined ? {} : { group }) };
}

interface Row extends CachedImage {
  readonly node: string;
}

/** The newest first. */
const namesOf = ({ name, other_names: others = [] }: Row): string =>
  [name || ABSENT, ...[...others].reverse()].join(", ");

/** A node that did not do it is said, and makes the command fail. */
async function show({ print, settings }: Context, answer: CacheAnswer, hint?: string): Promise<void> {
  const nodes = answer.nodes ?? [];
  if (print.structured) await print.document(answer);
  else if (settings.quiet) print.lines(nodes.filter(({ error = "" }) => error === "").map(({ node }) => node));
  else {
    const rows: Row[] = nodes.flatMap(({ node, images = [] }) => images.map((image) => ({ node, ...image })));
    // Where every node failed, there is nothing to show but that.
    const didAny = nodes.some(({ error = "" }) => error === "");
    if (didAny)
      print.table<Row>(
        [
          { header: "NODE", value: ({ node }) => node, flexible: true },
          { header: "IMAGE", value: namesOf, flexible: true },
          { header: "DIGEST", value: ({ digest }) => digest?.replace("sha256:", "").slice(0, 12) || ABSENT },
          { header: "KIND", value: ({ kind }) => kind || ABSENT },
          { header: "SIZE", value: ({ size_bytes }) => bytesText(size_bytes ?? 0), align: "right" },
          {
            header: "USED",
            value: ({ last_used }) => localTime(last_used) || ABSENT,
            short: ({ last_used }) => shortTime(last_used) || ABSENT,
          },
          { header: "IN USE", value: ({ pins }) => String(pins ?? 0), align: "right" },
          { header: "STICKY", value: ({ sticky }) => (sticky === true ? "yes" : "no") },
        ],
        rows,
      );
    for (const { node, size_bytes: size = 0, used_bytes: used = 0, error = "" } of nodes) {
      if (error === "") print.note(`${node}: ${bytesText(used)} of ${bytesText(size)} used`);
    }
  }
  const failed = nodes.filter(({ error = "" }) => error !== "");
  if (failed.length === 0) return;
  throw new ProblemError("image_unavailable", { detail: whatFailed(failed), ...(hint === undefined ? {} : { hint }) });
}

/** What several nodes say alike is said once. */
function whatFailed(failed: NonNullable<CacheAnswer["nodes"]>): string {
  const said = new Map<string, string[]>();
  for (const { node, error = "" } of failed) said.set(error, [...(said.get(error) ?? []), node]);
  return [...said].map(([error, nodes]) => `${namedNodes(nodes)}: ${error}`).join("; ");
}

/** More would hide what they say. */
const MOST_NAMED = 10;

const namedNodes = (nodes: readonly string[]): string =>
  nodes.length <= MOST_NAMED
    ? nodes.join(", ")
    : `${nodes.slice(0, MOST_NAMED).join(", ")} and ${nodes.length - MOST_NAMED} more`;
