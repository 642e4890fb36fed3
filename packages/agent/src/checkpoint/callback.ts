// Requests a checkpoint from a program that listens, over gRPC or over HTTP. Both stream answers back: an estimate,
// progress, a deferral, success or failure. A stream that ends without a final answer is a failure. An unreachable
// program is tried again, since it may have just started. The connection is made from inside the attempt, as its user,
// so that a program can direct its agent only where it could go itself.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import { cutMessage } from "./message.ts";
import { openRelay } from "./relay.ts";
import type { Answer, AttemptAccess, ProgramCheckpoint } from "./types.ts";

interface Ask extends ProgramCheckpoint {
  readonly directory: string;
  /** "host:port", "unix:/path" or "http://host:port/path". */
  readonly endpoint: string;
  readonly inside: AttemptAccess;
  /** A folder that only the agent can write. */
  readonly dir: string;
}

const UNIX = "unix:";

/** Returns why an address must not be called, or null. A program may direct its agent only to this node. */
export function addressProblem(endpoint: string): string | null {
  if (endpoint.startsWith(`${UNIX}/`) || placeOf(endpoint) !== null) return null;
  return `${JSON.stringify(endpoint.slice(0, 80))} is not an address on this node`;
}

function placeOf(endpoint: string): { readonly host: string; readonly port: number } | null {
  const found = /^(?:http:\/\/)?(localhost|127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})(?:\/.*)?$/.exec(endpoint);
  const [, host = "", port = ""] = found ?? [];
  return found === null ? null : { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

type AnswerListener = (answer: Answer) => void;

/** Resolves with the program's final answer; throws when the program cannot be reached. */
export async function askByCall(ask: Ask, onAnswer: AnswerListener, signal: AbortSignal): Promise<void> {
  const { endpoint, inside, dir } = ask;
  const at = endpoint.startsWith(UNIX) ? { path: endpoint.slice(UNIX.length) } : placeOf(endpoint);
  if (at === null) throw new Error(addressProblem(endpoint) ?? endpoint);
  const relay = inside.enter.length === 0 ? null : await openRelay({ at, inside, dir });
  try {
    await (endpoint.startsWith("http://") ? askByHttp : askByGrpc)(ask, relay?.path ?? null, onAnswer, signal);
  } finally {
    relay?.close();
  }
}

/** One message of gRPC, and all answers together; an answer with progress every second for a day is shorter. */
const MAX_ANSWER = 64 * 1024;
const MAX_ANSWERS = 4 * 1024 * 1024;
/** Counted for each message of gRPC, so that empty ones have an end too. */
const ANSWER_COST = 32;
const TOO_LONG: Answer = { kind: "failed", message: "the program's answer is too long" };

const METHOD = "TakeCheckpoint";

async function askByGrpc(ask: Ask, relay: string | null, onAnswer: AnswerListener, signal: AbortSignal): Promise<void> {
  const method = serviceDefinition(pb.CheckpointCallback)[METHOD];
  if (method === undefined) throw new Error(`the contract has no CheckpointCallback.${METHOD}`);
  const target = relay === null ? ask.endpoint : `${UNIX}${relay}`;
  const client = new Client(target, credentials.createInsecure(), { "grpc.max_receive_message_length": MAX_ANSWER });
  const request = create(pb.TakeCheckpointRequestSchema, {
    number: ask.number,
    directory: ask.directory,
    stopAfter: ask.thenStop,
    timeoutSeconds: Math.ceil(ask.timeoutMs / 1000),
  });
  let received = 0;
  const readAnswer = (bytes: Buffer): unknown => {
    received += bytes.length + ANSWER_COST;
    return method.responseDeserialize(bytes);
  };
  const call = client.makeServerStreamRequest(method.path, method.requestSerialize, readAnswer, request);
  const stop = (): void => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const response of call as AsyncIterable<pb.TakeCheckpointResponse>) {
      if (received > MAX_ANSWERS) return onAnswer(TOO_LONG);
      const answer = answerOf(response.answer);
      if (answer !== null) onAnswer(answer);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    client.close();
  }
}

function answerOf(answer: pb.TakeCheckpointResponse["answer"]): Answer | null {
  switch (answer.case) {
    case "estimatedSeconds":
      return { kind: "progress", estimatedSeconds: answer.value };
    case "percent":
      return { kind: "progress", percent: answer.value };
    case "deferSeconds":
      return { kind: "defer", ms: answer.value * 1000 };
    case "done":
      return { kind: "done", bytes: answer.value };
    case "failed":
      return { kind: "failed", message: cutMessage(answer.value) };
    case undefined:
      return null;
  }
}

/** One JSON object per line. */
async function askByHttp(ask: Ask, relay: string | null, onAnswer: AnswerListener, signal: AbortSignal): Promise<void> {
  const response = await post(ask, relay, signal);
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299) {
    response.destroy();
    onAnswer({ kind: "failed", message: `the program answered ${statusCode}` });
    return;
  }
  let rest = "";
  let length = 0;
  for await (const piece of response.setEncoding("utf8") as AsyncIterable<string>) {
    length += piece.length;
    if (length > MAX_ANSWERS) {
      response.destroy();
      return onAnswer(TOO_LONG);
    }
    const lines = (rest + piece).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) sayLine(line, onAnswer);
  }
  sayLine(rest, onAnswer);
}

function post(ask: Ask, relay: string | null, signal: AbortSignal): Promise<IncomingMessage> {
  const { number, directory, thenStop, timeoutMs, endpoint } = ask;
  const body = JSON.stringify({
    number,
    directory,
    stop_after: thenStop,
    timeout_seconds: Math.ceil(timeoutMs / 1000),
  });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const through = relay === null ? {} : { socketPath: relay };
  return new Promise((resolve, reject) => {
    const asked = httpRequest(endpoint, { method: "POST", headers, signal, agent: false, ...through }, resolve);
    asked.once("error", reject);
    asked.end(body);
  });
}

const MAX_LINE = 4_096;

function sayLine(line: string, onAnswer: AnswerListener): void {
  if (line.trim() === "") return;
  const fields = parsed(line);
  const amount = (name: string): number | null => {
    const value = fields?.[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
  };
  const [estimate, percent, defer] = [amount("estimated_seconds"), amount("percent"), amount("defer_seconds")];
  if (estimate !== null) onAnswer({ kind: "progress", estimatedSeconds: Math.round(estimate) });
  if (percent !== null) onAnswer({ kind: "progress", percent: Math.round(percent) });
  if (defer !== null) onAnswer({ kind: "defer", ms: defer * 1000 });
  if (typeof fields?.failed === "string") onAnswer({ kind: "failed", message: cutMessage(fields.failed) });
  else if (fields?.done === true || amount("done") !== null) onAnswer({ kind: "done", bytes: amount("done") });
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
