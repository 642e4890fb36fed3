// `lattice logs`: the output of an allocation, byte for byte, stdout to stdout and stderr to stderr. It waits for its
// reader, so that following gigabytes of output needs no memory. Notes on standard error explain missing output.

import type { Allocation, LatticeClient, LogsFilter } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { isDagId, workToRead } from "../names/work-ids.ts";
import { clean } from "../output/text.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { parseCount } from "../parse/count.ts";
import { parseTimestamp } from "../parse/timestamp.ts";
import { groupText } from "./status/group.ts";
import { endText, pendingText } from "./status/sentence.ts";

interface LogsFlags {
  readonly follow?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly node?: string;
  readonly tail?: number;
  readonly attempt?: number;
  readonly since?: string;
  readonly until?: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly failed?: boolean;
}

type Stream = "stdout" | "stderr";

export function define(command: Command): void {
  command
    .argument("<id>", "id, name or last: an allocation, a task group or a DAG")
    .option("-f, --follow", "follow until the allocation ends")
    .option("--stdout", "only standard output")
    .option("--stderr", "only standard error")
    .option("--node <name>", "only this node")
    .option("--tail <lines>", "only the last lines", (text) => parseCount(text, 1, 10_000_000))
    .option("--attempt <number>", "attempt (default: the newest)", (text) => parseCount(text, 1, 1_000_000))
    .option("--since <time>", "written since then: 2026-03-01T10:00:00Z, or 10m for ten minutes ago", parseTimestamp)
    .option("--until <time>", "written before then", parseTimestamp)
    .option("--offset <bytes>", "start at this position of each log", (text) => parseCount(text, 0, MAX_OFFSET))
    .option("--limit <bytes>", "maximum number of bytes of each stream", (text) => parseCount(text, 1, MAX_LIMIT))
    .option("--failed", "of a task group or DAG: only work that failed")
    .action(async (word: string, flags: LogsFlags) => {
      const context = await createContext(command);
      const id = await workToRead(context, word);
      if (isDagId(id)) return showMembers(context, id, flags);
      const allocation = await context.client.get(id);
      return allocation.group === undefined
        ? showLogs(context, allocation, flags)
        : showElements(context, allocation, flags);
    });
}

/** The elements that have started, each below a header line. */
async function showElements(context: Context, { id, group }: Allocation, flags: LogsFlags): Promise<void> {
  if (flags.follow === true) throw oneAtATime(`${id}_0`);
  const state = flags.failed === true ? (["failed"] as const) : STARTED;
  let shown = 0;
  for await (const element of context.client.listAll({ group_id: id, expand: true, state })) {
    await showPart(context, element, element.id, flags);
    shown += 1;
  }
  if (shown > 0) return;
  const which = flags.failed === true ? "has failed" : "has started";
  context.print.note(`no element of task group ${id} ${which}${group === undefined ? "" : ` (${groupText(group)})`}`);
}

async function showMembers(context: Context, id: string, flags: LogsFlags): Promise<void> {
  if (flags.follow === true) throw oneAtATime("ID");
  const { members = [] } = await context.client.dags.get(id);
  for (const { allocation_id, name } of members) {
    const member = await context.client.get(allocation_id);
    if (flags.failed === true ? member.state !== "failed" : member.state === "pending") continue;
    if (member.group === undefined) await showPart(context, member, `${name} (${member.id})`, flags);
    else await showElements(context, member, flags);
  }
}

async function showPart(context: Context, part: Allocation, title: string, flags: LogsFlags): Promise<void> {
  const { print } = context;
  if (!print.structured) print.line(print.paint("bold", `==> ${clean(title)}: ${part.state} <==`));
  await showLogs(context, part, flags);
}

const STARTED = ["running", "checkpointing", "suspended", "completed", "failed", "cancelled"] as const;

const oneAtATime = (example: string): ProblemError =>
  new ProblemError("invalid_argument", {
    detail: "--follow shows one allocation",
    hint: `Name one of them: lattice logs --follow ${example}`,
  });

async function showLogs(context: Context, allocation: Allocation, flags: LogsFlags): Promise<void> {
  const { client, print } = context;
  const { id } = allocation;
  const isPending = allocation.state === "pending";
  if (isPending) print.note(clean(pendingText(allocation)));
  if (flags.follow === true) {
    await followAll(context, allocation, flags);
    const end = endText(await client.get(id));
    if (end !== null) print.note(clean(end));
    return;
  }
  // With --attempt the user may want the output of an earlier attempt.
  if (isPending && flags.attempt === undefined) return;
  let bytes = 0;
  for (const stream of streamsOf(flags)) {
    bytes += await pass(context, client.logs(id, filterOf(flags, stream)), { id, stream });
  }
  // A job that failed in its prologue has no output: its reason is the answer.
  const end = bytes === 0 ? endText(allocation) : null;
  if (end !== null) print.note(clean(end));
}

/** Follows both streams at once; a failure of one ends both. */
async function followAll(context: Context, { id }: Allocation, flags: LogsFlags): Promise<void> {
  const stop = new AbortController();
  const follow = (stream: Stream): ReturnType<LatticeClient["streamLogs"]> =>
    context.client.streamLogs(id, filterOf(flags, stream), { signal: stop.signal });
  try {
    await Promise.all(streamsOf(flags).map((stream) => pass(context, follow(stream), { id, stream })));
  } finally {
    stop.abort();
  }
}

/** No flag means both streams, like both flags. */
const streamsOf = ({ stdout, stderr }: LogsFlags): readonly Stream[] => {
  if (stdout === stderr) return ["stdout", "stderr"];
  return stdout === true ? ["stdout"] : ["stderr"];
};

const MAX_OFFSET = 10 ** 15 - 1;
const MAX_LIMIT = 2 ** 32 - 1;

const filterOf = (flags: LogsFlags, stream: Stream): LogsFilter => {
  const { since, until, offset, limit } = flags;
  return {
    ...whereOf(flags, stream),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(offset === undefined ? {} : { offset: String(offset) }),
    ...(limit === undefined ? {} : { limit }),
  };
};

const whereOf = ({ node, tail, attempt }: LogsFlags, stream: Stream): LogsFilter => ({
  stream,
  ...(node === undefined ? {} : { node }),
  ...(tail === undefined ? {} : { tail }),
  ...(attempt === undefined ? {} : { attempt }),
});

async function pass(
  { print }: Context,
  bytes: AsyncIterable<Uint8Array>,
  { id, stream }: { readonly id: string; readonly stream: Stream },
): Promise<number> {
  let length = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      length += chunk.length;
      yield chunk;
    }
  }
  if (!print.structured) await writeBytes(counted(), stream === "stdout" ? process.stdout : process.stderr);
  else {
    const decoder = new TextDecoder();
    for await (const chunk of counted())
      await print.streamed({ id, stream, data: decoder.decode(chunk, { stream: true }) });
  }
  return length;
}
