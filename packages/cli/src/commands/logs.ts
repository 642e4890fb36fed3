// `lattice logs`: the output of an allocation, byte for byte, stdout to stdout and stderr to stderr. It waits for its
// reader, so that following gigabytes of output needs no memory. Notes on standard error explain missing output.

import type { Allocation, LatticeClient, LogsFilter } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { clean } from "../output/text.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { parseCount } from "../parse/count.ts";
import { parseTimestamp } from "../parse/timestamp.ts";
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
}

type Stream = "stdout" | "stderr";

export function define(command: Command): void {
  command
    .argument("<id>", "allocation")
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
    .action(async (id: string, flags: LogsFlags) => showLogs(await createContext(command), id, flags));
}

async function showLogs(context: Context, id: string, flags: LogsFlags): Promise<void> {
  const { client, print } = context;
  const allocation = await client.get(id);
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
  for (const stream of streamsOf(flags)) {
    await pass(context, client.logs(id, filterOf(flags, stream)), { id, stream });
  }
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
): Promise<void> {
  if (!print.structured) return writeBytes(bytes, stream === "stdout" ? process.stdout : process.stderr);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    await print.streamed({ id, stream, data: decoder.decode(chunk, { stream: true }) });
  }
}
