// `lattice cache`: the image caches of nodes: fills, shows and evicts them.

import type { CachedImage, CacheResponse, GetCacheRequest } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../context.ts";
import { withSpinner } from "../output/progress.ts";
import { ABSENT } from "../output/text.ts";
import { localTime, shortTime } from "../output/time.ts";
import { bytesText } from "./uenv/table.ts";

type WarmOptions = GetCacheRequest & { readonly sticky?: boolean };

interface Flags {
  readonly image?: string;
  readonly node?: string;
  readonly nodes?: string;
  readonly group?: string;
  readonly sticky?: boolean;
}

export function define(command: Command): void {
  const warm = withNodes(command.command("warm").description("Pull an image into the caches of nodes"));
  warm.requiredOption("--image <image>", "for example prgenv-gnu/24.11:v1");
  warm.option("--sticky", "never evict it automatically");
  warm.action(async ({ image = "", sticky = false, ...which }: Flags) => {
    await warmCaches(await createContext(warm), image, { ...nodesOf(which), ...(sticky ? { sticky } : {}) });
  });

  const status = withNodes(command.command("status").description("Show cached images"));
  status.action(async (which: Flags) => {
    const context = await createContext(status);
    await show(context, await context.client.images.cache(nodesOf(which)), "Check the nodes with: lattice nodes");
  });

  const evict = withNodes(command.command("evict").description("Evict an image from the caches of nodes"));
  evict.requiredOption("--image <image>", "name or digest");
  evict.action(async ({ image = "", ...which }: Flags) => {
    const context = await createContext(evict);
    const answer = await context.client.images.evict(image, nodesOf(which));
    await show(context, answer, "List cached images with: lattice cache status");
  });
}

export async function warmCaches(context: Context, image: string, where: WarmOptions): Promise<void> {
  const answer = await withSpinner(context, `Pulling ${image} to the nodes`, () =>
    context.client.images.warm(image, where),
  );
  const isWithout = answer.nodes?.some(({ error = "" }) => error.startsWith("no registry is configured")) === true;
  const hint = "Ask an administrator to set --registry of the agents.";
  await show(context, answer, isWithout ? hint : undefined);
}

export const withNodes = (command: Command): Command =>
  command
    .addOption(new Option("--nodes <ids>", "nodes, separated by commas (default: all connected nodes)"))
    .addOption(new Option("--node <id>", "this node").hideHelp())
    .addOption(new Option("--group <name>", "nodes of this group"));

export function nodesOf({ node, nodes, group }: Pick<Flags, "node" | "nodes" | "group">): GetCacheRequest {
  const named = [...(nodes ?? "").split(","), node ?? ""].map((id) => id.trim()).filter((id) => id !== "");
  return { ...(named.length === 0 ? {} : { nodes: named }), ...(group === undefined ? {} : { group }) };
}

interface Row extends CachedImage {
  readonly node: string;
}

/** Lists the newest name first. */
const namesOf = ({ name, other_names: others = [] }: Row): string =>
  [name || ABSENT, ...[...others].reverse()].join(", ");

/** Shows the result, and throws when a node failed. */
async function show({ print, settings }: Context, answer: CacheResponse, hint?: string): Promise<void> {
  const nodes = answer.nodes ?? [];
  if (print.structured) await print.document(answer);
  else if (settings.quiet) print.lines(nodes.filter(({ error = "" }) => error === "").map(({ node }) => node));
  else {
    const rows: Row[] = nodes.flatMap(({ node, images = [] }) => images.map((image) => ({ node, ...image })));
    // Without any success the table would be empty.
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

/** Lists each error once, with the nodes that reported it. */
function whatFailed(failed: NonNullable<CacheResponse["nodes"]>): string {
  const nodesByError = new Map<string, string[]>();
  for (const { node, error = "" } of failed) nodesByError.set(error, [...(nodesByError.get(error) ?? []), node]);
  return [...nodesByError].map(([error, nodes]) => `${namedNodes(nodes)}: ${error}`).join("; ");
}

/** More names would hide the error. */
const MAX_NAMED = 10;

const namedNodes = (nodes: readonly string[]): string =>
  nodes.length <= MAX_NAMED
    ? nodes.join(", ")
    : `${nodes.slice(0, MAX_NAMED).join(", ")} and ${nodes.length - MAX_NAMED} more`;
