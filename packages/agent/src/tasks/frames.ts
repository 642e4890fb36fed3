// The protocol between an agent and a shepherd, over a socket that either end may lose. A frame is four bytes of
// length, one byte of kind, and its body: JSON, or raw output and input. Reports are numbered; unconfirmed ones are
// repeated to the next agent and to a new leader, together with what that leader must know.

import type { NameReply, PmiEntry, PmiNameQuestion } from "./base/name-types.ts";

export interface ShepherdSpec {
  readonly launchId: string;
  readonly size: number;
  readonly firstRank: number;
  readonly tasks: number;
  readonly mapping: string;
  /** Several nodes take part: fences go through the agent. */
  readonly spread: boolean;
  readonly pmi: boolean;
  /** Served by a helper; `null` when not requested. */
  readonly pmix: PmixSpec | null;
  readonly command: readonly string[];
  /** Entered with the rights of the user; "" when the prefix enters the job's own directory. */
  readonly workdir: string;
  /** In octal digits; "" for the shepherd's own. */
  readonly umask: string;
  /** The attempt runs in a container image, so its paths differ from the node's. */
  readonly inImage: boolean;
  /** Variables of every rank; the shepherd adds the ones that differ. */
  readonly environment: Readonly<Record<string, string>>;
  readonly slurmEnv: boolean;
  readonly prefix: readonly string[];
  /** Words that become the job's user, for what the shepherd does with a terminal of theirs. */
  readonly resizeBy: readonly string[];
  readonly pty: { readonly rows: number; readonly columns: number } | null;
  readonly input: boolean;
  readonly fenceTimeoutMs: number;
  /** Library to preload into ranks that use PMI, or "". */
  readonly preload: string;
}

export interface PmixSpec {
  /** The program that serves it. */
  readonly helper: string;
  /** Words before it: the namespace and the user. */
  readonly prefix: readonly string[];
  /** Where its files go, which ranks must be able to reach: the shepherd appends a random part. */
  readonly folder: string;
  readonly nodes: readonly { readonly node: string; readonly firstRank: number; readonly tasks: number }[];
  /** Index of this node. */
  readonly place: number;
}

export type ShepherdReport =
  | { readonly kind: "output"; readonly rank: number; readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }
  | {
      readonly kind: "exit";
      readonly rank: number;
      readonly code: number;
      readonly signal: number;
      readonly message: string;
    }
  | { readonly kind: "fence"; readonly number: number; readonly entries: readonly PmiEntry[] }
  | { readonly kind: "abort"; readonly rank: number; readonly code: number; readonly message: string }
  | ({ readonly kind: "names" } & PmiNameQuestion)
  /** The launch was killed, with this exit code. */
  | { readonly kind: "killed"; readonly code: number; readonly reason: string }
  | { readonly kind: "done" };

export interface NumberedReport {
  readonly number: number;
  readonly report: ShepherdReport;
}

export type ShepherdOrder =
  | { readonly kind: "spec"; readonly spec: ShepherdSpec }
  | { readonly kind: "taken"; readonly number: number }
  /** The server did not receive the latest reports. */
  | { readonly kind: "again" }
  | { readonly kind: "fence_done"; readonly number: number; readonly entries: readonly PmiEntry[] }
  /** Offset of the next input. */
  | { readonly kind: "input_at"; readonly offset: number }
  | { readonly kind: "input"; readonly data: Uint8Array; readonly end: boolean }
  /** Size of the terminal, before the input that follows. */
  | { readonly kind: "resize"; readonly rows: number; readonly columns: number }
  | ({ readonly kind: "named"; readonly id: number } & NameReply)
  /** The remaining reports will not be read: the shepherd may exit when the ranks have ended. */
  | { readonly kind: "forgotten" }
  | { readonly kind: "kill"; readonly reason: string; readonly code: number };

const JSON_BODY = 0;
const OUTPUT_BODY = 1;
const INPUT_BODY = 2;
const HEAD_BYTES = 5;
const OUTPUT_HEAD_BYTES = 9;

export function encodeReport({ number, report }: NumberedReport): Buffer {
  if (report.kind !== "output") return frame(JSON_BODY, Buffer.from(JSON.stringify({ number, report })));
  const head = Buffer.alloc(OUTPUT_HEAD_BYTES);
  head.writeUInt32LE(number, 0);
  head.writeUInt32LE(report.rank, 4);
  head.writeUInt8(report.stream === "stdout" ? 1 : 2, 8);
  return frame(OUTPUT_BODY, head, report.data);
}

/** Throws when it is no report. */
export function decodeReport({ kind, body }: ShepherdFrame): NumberedReport {
  if (kind === JSON_BODY) return reportOf(JSON.parse(body.toString("utf8")));
  if (kind !== OUTPUT_BODY) throw new Error(`a report of kind ${kind}`);
  const stream = body.readUInt8(8) === 1 ? "stdout" : "stderr";
  const data = body.subarray(OUTPUT_HEAD_BYTES);
  return { number: body.readUInt32LE(0), report: { kind: "output", rank: body.readUInt32LE(4), stream, data } };
}

export function encodeOrder(order: ShepherdOrder): Buffer {
  if (order.kind !== "input") return frame(JSON_BODY, Buffer.from(JSON.stringify(order)));
  return frame(INPUT_BODY, Buffer.from([order.end ? 1 : 0]), order.data);
}

/** Throws when it is no order. */
export function decodeOrder({ kind, body }: ShepherdFrame): ShepherdOrder {
  if (kind === JSON_BODY) {
    const order = JSON.parse(body.toString("utf8")) as ShepherdOrder | null;
    if (typeof order?.kind !== "string") throw new Error("an order without a kind");
    return order;
  }
  if (kind !== INPUT_BODY) throw new Error(`an order of kind ${kind}`);
  return { kind: "input", data: body.subarray(1), end: body[0] === 1 };
}

/** A report comes from a program of the agent's own; the check keeps a damaged one from reaching a server. */
function reportOf(value: unknown): NumberedReport {
  const { number, report } = value as { number?: unknown; report?: { kind?: unknown } & Record<string, unknown> };
  const fields =
    typeof report?.kind === "string" && Object.hasOwn(FIELDS, report.kind) ? FIELDS[report.kind] : undefined;
  if (!Number.isSafeInteger(number) || fields === undefined) throw new Error("a report without number or kind");
  for (const [name, isRight] of Object.entries(fields))
    if (!isRight(report?.[name])) throw new Error(`a report with a wrong ${name}`);
  return value as NumberedReport;
}

const isInt32 = (value: unknown): boolean => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31;
const isText = (value: unknown): boolean => typeof value === "string";
const isEntries = (value: unknown): boolean =>
  Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText));

const FIELDS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  exit: { rank: isInt32, code: isInt32, signal: isInt32, message: isText },
  fence: { number: isInt32, entries: isEntries },
  abort: { rank: isInt32, code: isInt32, message: isText },
  names: {
    id: isInt32,
    act: (value) => value === "publish" || value === "lookup" || value === "unpublish",
    entries: isEntries,
    waitSeconds: isInt32,
  },
  killed: { code: isInt32, reason: isText },
  done: {},
};

interface ShepherdFrame {
  readonly kind: number;
  readonly body: Buffer;
}

interface FrameReaderOptions<Message> {
  readonly maxBytes: number;
  /** May throw. */
  readonly decode: (frame: ShepherdFrame) => Message;
  readonly take: (message: Message) => void;
  /** Called once; everything after it is ignored. */
  readonly broken: (reason: string) => void;
}

/** Collects bytes and calls back for every complete frame. A frame that is too large or malformed ends the reading. */
export function frameReader<Message>(options: FrameReaderOptions<Message>): (bytes: Buffer) => void {
  const { maxBytes, decode, take, broken } = options;
  let parts: Buffer[] = [];
  let have = 0;
  let wanted = HEAD_BYTES;
  let isBroken = false;

  function giveUp(reason: string): void {
    isBroken = true;
    parts = [];
    broken(reason);
  }

  /** Returns null when more bytes are needed, or none will be read. */
  function next(): ShepherdFrame | null {
    if (isBroken || have < wanted) return null;
    const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [all];
    const length = all.readUInt32LE(0);
    if (length > maxBytes) {
      giveUp(`a frame of ${length} bytes; ${maxBytes} is the limit`);
      return null;
    }
    wanted = HEAD_BYTES + length;
    if (have < wanted) return null;
    const body = all.subarray(HEAD_BYTES, wanted);
    parts = have > wanted ? [all.subarray(wanted)] : [];
    have -= wanted;
    wanted = HEAD_BYTES;
    return { kind: all.readUInt8(4), body };
  }

  return (bytes) => {
    if (isBroken) return;
    parts.push(bytes);
    have += bytes.length;
    for (let frame = next(); frame !== null; frame = next()) {
      let message: Message;
      try {
        message = decode(frame);
      } catch (error) {
        return giveUp(`a malformed frame: ${(error as Error).message.slice(0, MAX_REASON_CHARACTERS)}`);
      }
      take(message);
    }
  };
}

const MAX_REASON_CHARACTERS = 200;

function frame(kind: number, ...body: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(
    body.reduce((sum, part) => sum + part.length, 0),
    0,
  );
  head.writeUInt8(kind, 4);
  return Buffer.concat([head, ...body]);
}
