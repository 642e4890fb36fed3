// Requests a checkpoint from a program that listens, over gRPC or over HTTP. Both stream answers back: an estimate,
// progress, a deferral, success or failure. A stream that ends without a final answer is a failure. An unreachable
// program is tried again, since it may have just started. A program in its own network namespace is called from inside
// it.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import { pb, serviceDefinition } from "@lattice/wire";
import { enterNetwork } from "../network/inside.ts";
import type { Answer, ProgramCheckpoint } from "./types.ts";

interface Ask extends ProgramCheckpoint {
  readonly directory: string;
  /** "host:port", "unix:/path" or "http://host:port/path". */
  readonly endpoint: string;
  /** `null` when the program is in the node's network. */
  readonly inside: { readonly pid: number; readonly dir: string } | null;
}

/** Returns why an address must not be called, or null. A program may direct its agent only to this node. */
export function addressProblem(endpoint: string): string | null {
  if (endpoint.startsWith("unix:/") || placeOf(endpoint) !== null) return null;
  return `${JSON.stringify(endpoint.slice(0, 80))} is not an address on this node`;
}

function placeOf(endpoint: string): { readonly host: string; readonly port: number } | null {
  const found = /^(?:http:\/\/)?(localhost|127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})(?:\/.*)?$/.exec(endpoint);
  const [, host = "", port = ""] = found ?? [];
  return found === null ? null : { host: host.replace(/[[\]]/g, ""), port: Number(port) };
}

type Heard = (answer: Answer) => void;

/** Resolves with the program's final answer; throws when the program cannot be reached. */
export async function askByCall(ask: Ask, onAnswer: Heard, signal: AbortSignal): Promise<void> {
  const place = placeOf(ask.endpoint);
  // Sockets in the file system are the same in every network.
  const networkCall = ask.inside === null || place === null ? null : await enterNetwork({ ...place, ...ask.inside });
  try {
    await (ask.endpoint.startsWith("http://") ? askByHttp : askByGrpc)(
      ask,
      networkCall?.path ?? null,
      onAnswer,
      signal,
    );
  } finally {
    networkCall?.close();
  }
}

const METHOD = "TakeCheckpoint";

async function askByGrpc(ask: Ask, networkCall: string | null, onAnswer: Heard, signal: AbortSignal): Promise<void> {
  const method = serviceDefinition(pb.CheckpointCallback)[METHOD];
  if (method === undefined) throw new Error(`the contract has no CheckpointCallback.${METHOD}`);
  const client = new Client(networkCall === null ? ask.endpoint : `unix:${networkCall}`, credentials.createInsecure());
  const request = create(pb.TakeCheckpointRequestSchema, {
    number: ask.number,
    directory: ask.directory,
    stopAfter: ask.thenStop,
    timeoutSeconds: Math.ceil(ask.timeoutMs / 1000),
  });
  const call = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    request,
  );
  const stop = (): void => call.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const response of call as AsyncIterable<pb.TakeCheckpointResponse>) {
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
      return { kind: "failed", message: answer.value };
    case undefined:
      return null;
  }
}

/** One JSON object per line. */
async function askByHttp(ask: Ask, networkCall: string | null, onAnswer: Heard, signal: AbortSignal): Promise<void> {
  const response = await post(ask, networkCall, signal);
  const { statusCode = 0 } = response;
  if (statusCode < 200 || statusCode > 299) {
    response.destroy();
    onAnswer({ kind: "failed", message: `the program answered ${statusCode}` });
    return;
  }
  let rest = "";
  for await (const piece of response.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + piece).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    for (const line of lines) sayLine(line, onAnswer);
  }
  sayLine(rest, onAnswer);
}

function post(ask: Ask, networkCall: string | null, signal: AbortSignal): Promise<IncomingMessage> {
  const { number, directory, thenStop, timeoutMs, endpoint } = ask;
  const body = JSON.stringify({
    number,
    directory,
    stop_after: thenStop,
    timeout_seconds: Math.ceil(timeoutMs / 1000),
  });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const through = networkCall === null ? {} : { socketPath: networkCall };
  return new Promise((resolve, reject) => {
    const asked = httpRequest(endpoint, { method: "POST", headers, signal, agent: false, ...through }, resolve);
    asked.once("error", reject);
    asked.end(body);
  });
}

const MAX_LINE = 4_096;

function sayLine(line: string, onAnswer: Heard): void {
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
  if (typeof fields?.failed === "string") onAnswer({ kind: "failed", message: fields.failed });
  else if (fields?.done === true || amount("done") !== null) onAnswer({ kind: "done", bytes: amount("done") });
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}
