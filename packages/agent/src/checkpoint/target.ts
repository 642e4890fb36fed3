// Requests checkpoints from the program of one attempt on a real node, by the method it was submitted with, and
// detects completion. A request that the program has received is not repeated: the agent may have restarted while the
// program writes.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OwnedFolder, UserFiles } from "../files/user-files.ts";
import { signalEach } from "../host/isolation/isolation.ts";
import { addressProblem, askByCall } from "./callback.ts";
import {
  type Control,
  deliveredNumber,
  keepDelivered,
  keepResult,
  keptResult,
  readDone,
  readEndpoint,
  requestedNumber,
  writeRequest,
} from "./control.ts";
import { checkpointByDmtcp, NOT_RUNNING } from "./dmtcp.ts";
import { removeOlder } from "./remove.ts";
import { raiseFlag, readFlag } from "./shared-flag.ts";
import type {
  Answer,
  AttemptAccess,
  CheckpointTarget,
  NodeCheckpointResult,
  PendingCheckpoint,
  ProgramCheckpoint,
} from "./types.ts";

export interface CheckpointPlace extends Control {
  readonly mode: string;
  /** 0 when the program itself publishes where it listens. */
  readonly port: number;
  /** Parent directory of the checkpoints, on storage shared by all nodes. */
  readonly checkpoints: string;
  /** The same folder, as the agent made it. */
  readonly owned: OwnedFolder;
  /** Only the first node measures the size; all nodes see the same files. */
  readonly isFirst: boolean;
  /** Checkpoints are read and removed with the rights of their owner. */
  readonly files: Pick<UserFiles, "size" | "prune"> & Control["files"];
  /** Processes of the attempt, without the wrapper. */
  readonly members: () => Promise<readonly number[]>;
  /** How a program acts for the agent inside the attempt; `null` when the attempt does not run. */
  readonly inside: () => Promise<AttemptAccess | null>;
  readonly now: () => number;
  /** Search path of the job, for programs that act for it. */
  readonly path: string;
}

type AnswerListener = (answer: Answer) => void;

/** A checkpoint of more files is measured in part. */
const MAX_FILES = 10_000;

export function checkpointTarget(place: CheckpointPlace): CheckpointTarget {
  const { mode } = place;
  const folderOf = (number: number): string => join(place.checkpoints, String(number));
  const sizeOf = (number: number) =>
    place.files.size(folderOf(number), place.owner, MAX_FILES).catch(() => ({ bytes: 0, isWhole: false }));
  const bytesOf = async (number: number): Promise<number> => (place.isFirst ? (await sizeOf(number)).bytes : 0);

  /**
   * Checks a program's claim of success against the files: after a failed write many programs continue as if nothing
   * had happened.
   */
  async function checked(result: NodeCheckpointResult): Promise<NodeCheckpointResult> {
    const { number, ok } = result;
    if (!ok || result.bytes > 0 || !place.isFirst) return result;
    const { bytes, isWhole } = await sizeOf(number);
    if (bytes > 0 || !isWhole) return { ...result, bytes };
    const message = `the program reported success, but nothing was written to ${folderOf(number)}`;
    return { number, ok: false, bytes: 0, message };
  }

  async function ask(wanted: ProgramCheckpoint, heard: AnswerListener): Promise<PendingCheckpoint> {
    const known = deliveredNumber(place.control) === wanted.number;
    if (!known) await writeRequest(place, wanted, folderOf(wanted.number));
    if (!known && place.isFirst && wanted.kept !== undefined) {
      // Not awaited: leftovers are removed with the next checkpoint.
      const whose = String(place.owner?.uid ?? "");
      void removeOlder(place.owned, { files: place.files, whose, below: wanted.number, kept: wanted.kept });
    }
    const growth = growthOf(() => bytesOf(wanted.number), heard, place.now);
    switch (mode) {
      case "shmem":
        if (!known) await raiseFlag(place, wanted);
        keepDelivered(place.control, wanted.number);
        return { look: () => lookAtFlag(place, wanted, heard), close: () => undefined };
      case "grpc":
        return call(place, { ...wanted, directory: folderOf(wanted.number) }, heard);
      case "dmtcp":
        return checkpointByDmtcp({ ...place, directory: folderOf(wanted.number), growth, heard });
      default:
        return signalled(place, wanted, { heard, growth, known });
    }
  }

  return {
    ask,
    async word() {
      const kept = keptResult(place.control);
      const number = await requestedNumber(place);
      if (number === 0 || kept?.number === number) return kept;
      const flag = mode === "shmem" ? await readFlag(place) : null;
      if (flag?.done === number) return checked(success(number));
      const done = mode === "shmem" ? null : await readDone(place, number);
      if (done === null) return null;
      return done.ok ? checked(success(number)) : { number, ok: false, bytes: 0, message: done.message };
    },
    keep: async (result) => keepResult(place.control, await checked(result)),
  };
}

const success = (number: number): NodeCheckpointResult => ({ number, ok: true, bytes: 0, message: "" });

function signalled(
  place: CheckpointPlace,
  { number }: ProgramCheckpoint,
  {
    heard,
    growth,
    known,
  }: { readonly heard: AnswerListener; readonly growth: () => Promise<void>; readonly known: boolean },
): PendingCheckpoint {
  const { members, now } = place;
  const askedAt = now();
  let requested = known;
  return {
    async look() {
      const done = await readDone(place, number);
      if (done !== null)
        return heard(done.ok ? { kind: "done", bytes: null } : { kind: "failed", message: done.message });
      if (requested) return growth();
      const able = catchers(await members());
      if (able.length > 0) {
        requested = true;
        askBySignal(able);
        keepDelivered(place.control, number);
      } else if (now() - askedAt >= CATCHER_WAIT_MS) {
        heard({ kind: "failed", message: "no process of it catches SIGUSR1" });
      }
    },
    close: () => undefined,
  };
}

async function lookAtFlag(control: Control, { number }: ProgramCheckpoint, heard: AnswerListener): Promise<void> {
  const flag = await readFlag(control);
  if (flag === null) {
    heard({ kind: "failed", message: "the program has removed its checkpoint flag" });
    return;
  }
  const { done, failed, percent } = flag;
  if (done === number) heard({ kind: "done", bytes: null });
  else if (failed === number) heard({ kind: "failed", message: "the program reported a failure" });
  else if (percent > 0) heard({ kind: "progress", percent: Math.min(100, percent) });
}

/** A program that cannot be reached is called again after this. */
const CALL_AGAIN_MS = 500;

function call(
  place: CheckpointPlace,
  ask: ProgramCheckpoint & { readonly directory: string },
  heard: AnswerListener,
): PendingCheckpoint {
  const { control, port, now } = place;
  const closed = new AbortController();
  let calling = false;
  let nextAt = 0;
  let lastAnswer: Answer | null = null;

  async function once(endpoint: string): Promise<void> {
    lastAnswer = null;
    const problem = addressProblem(endpoint);
    if (problem !== null) return heard({ kind: "failed", message: problem });
    const listen: AnswerListener = (answer) => {
      lastAnswer = answer;
      heard(answer);
    };
    const inside = await place.inside();
    if (inside === null) throw new Error(NOT_RUNNING);
    await askByCall({ ...ask, endpoint, inside, dir: dirname(control) }, listen, closed.signal);
    const last = lastAnswer as Answer | null;
    if (last?.kind === "defer") nextAt = now() + last.ms;
    else if (last === null || last.kind === "progress") {
      heard({ kind: "failed", message: "the program ended its answer without saying what came of it" });
    }
  }

  return {
    async look() {
      if (calling || now() < nextAt) return;
      calling = true;
      const endpoint = port > 0 ? `127.0.0.1:${port}` : await readEndpoint(place);
      if (endpoint === "" || closed.signal.aborted) {
        calling = false;
        return;
      }
      nextAt = now() + CALL_AGAIN_MS;
      void once(endpoint)
        .catch((error: Error) => {
          // A program that never answered may not listen yet; the deadline bounds the wait.
          if (lastAnswer !== null && !closed.signal.aborted) heard({ kind: "failed", message: error.message });
        })
        .finally(() => {
          calling = false;
        });
    },
    close: () => closed.abort(),
  };
}

const LOOK_AT_SIZE_EVERY_MS = 1_000;

/** A folder that grows counts as progress. */
function growthOf(bytes: () => Promise<number>, heard: AnswerListener, now: () => number): () => Promise<void> {
  let lookedAt = now();
  let last = 0;
  return async () => {
    if (now() - lookedAt < LOOK_AT_SIZE_EVERY_MS) return;
    lookedAt = now();
    const size = await bytes();
    if (size > last) heard({ kind: "progress" });
    last = size;
  };
}

// Requests a checkpoint by SIGUSR1, sent only to processes of the attempt that catch it: it would kill the others. The
// program reports completion by a file.

/** A program that has just started may not have installed its handler yet. */
const CATCHER_WAIT_MS = 5_000;
const SIGUSR1_BIT = 1n << 9n;

/** Returns the processes among these that catch SIGUSR1. */
const catchers = (pids: readonly number[]): readonly number[] => pids.filter(catches);

const askBySignal = (pids: readonly number[]): void => signalEach(pids, "SIGUSR1");

function catches(pid: number): boolean {
  try {
    const caught = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & SIGUSR1_BIT) !== 0n;
  } catch {
    return false;
  }
}
