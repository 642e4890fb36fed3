// A managed etcd member: adopted when it runs, started when it does not, and restarted when it ends. It outlives this
// process, so that a restarted or upgraded server finds it. It is stopped only on request.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdTls } from "../client/channel.ts";
import { createEtcdClient } from "../client/client.ts";
import { refuseAlone } from "./alone.ts";
import { announce } from "./announce.ts";
import { findEtcd } from "./binary.ts";
import {
  bootstrapFlags,
  clientUrl,
  EXISTING,
  FORCE_NEW,
  joiningFlags,
  listenAddress,
  type MemberPlace,
  type MemberTls,
  peerUrl,
  runningFlags,
} from "./command-line.ts";
import { untilVoter } from "./learner.ts";
import { holdsLog, lostError, markPresent, setIncompleteAside, wasPresent } from "./lost-member.ts";
import { ManagedError } from "./managed-error.ts";
import { type OwnPair, ownPair } from "./own-pair.ts";
import { findRunning, isAlive, type KnownProcess, startDetached, stopProcess } from "./process.ts";
import { lastOutput, markRemoved, refuseRemoved, rotateOutput, wasRemoved } from "./removed-member.ts";

/** A member that has not answered by then may wait for the others; one that has ended by then is broken. */
const SETTLE_MS = 3_000;
const WATCH_MS = 500;
const BACKOFF_MS = { min: 500, max: 10_000 } as const;
/** After a run of this length the restart backoff starts again from its minimum. */
const STEADY_MS = 60_000;

/** How a member without data starts. A member with data continues from it. */
export type Begin =
  | { readonly kind: "resume" }
  /** A new cluster of these members, including this one. All of them start with the same list. */
  | { readonly kind: "bootstrap"; readonly members: readonly MemberPlace[] }
  /** An existing cluster that answers at these endpoints. */
  | { readonly kind: "join"; readonly endpoints: readonly string[] }
  /** An existing cluster that knows this member; all its members, including this one. */
  | { readonly kind: "joined"; readonly members: readonly MemberPlace[] }
  /** Called when the member is known to have no data. */
  | { readonly kind: "ask"; readonly ask: () => Promise<Begin> };

export interface ManagedMemberOptions extends MemberPlace {
  readonly peerListen: string | null;
  readonly clientListen: string;
  /** Directory of this member alone; all its files are below it. */
  readonly dir: string;
  /** `null` for the first etcd on the PATH. */
  readonly binary: string | null;
  /** The files for etcd, and their contents for our own calls. */
  readonly tls: { readonly files: MemberTls; readonly texts: EtcdTls } | null;
  /** Without `tls`: protect the client port by a certificate in `dir`. */
  readonly protectClients: boolean;
  readonly begin: Begin;
  /** The other member of a cluster of two is lost: this one becomes the only member. Default: false. */
  readonly alone?: boolean;
  readonly onWarning: (text: string) => void;
  /** The cluster has removed the member: it has ended and is not restarted. */
  readonly onRemoved?: (error: ManagedError) => void;
  /** The data of the member is gone: it has ended and is not restarted, since it would start another cluster. */
  readonly onLost?: (error: ManagedError) => void;
  /** A backup is restored: data that was lost before may be replaced by a new cluster. Default: false. */
  readonly replacesLost?: boolean;
}

export interface ManagedMember {
  readonly endpoint: string;
  /** For calls of the endpoint. */
  readonly tls: EtcdTls | null;
  readonly version: string;
  /** Whether it was running before. */
  readonly adopted: boolean;
  pid(): number;
  /** Ends the supervision and leaves the member running. */
  release(): Promise<void>;
  /** Ends the member. */
  stop(): Promise<void>;
}

export async function startManagedMember(options: ManagedMemberOptions): Promise<ManagedMember> {
  const { dir, tls, onWarning } = options;
  const { path: binary, version } = await findEtcd(options.binary, process.env.PATH ?? "");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const files = { pidFile: join(dir, "etcd.pid"), logFile: join(dir, "etcd-output.txt") };
  const dataDir = join(dir, "data");
  const own = tls === null && options.protectClients ? await ownPair(dir, options.clientListen) : null;
  const flagsWith = (clientTls: MemberTls | null) =>
    runningFlags({ ...options, dataDir, tls: tls?.files ?? null, clientTls });
  const runsWith = (wanted: readonly string[]) => wanted.every((flag) => running?.args.includes(flag) === true);
  let clientTls: Pick<OwnPair, "files" | "texts"> | null = tls ?? own;
  let flags = flagsWith(clientTls?.files ?? null);
  const launch = (more: readonly string[]): Promise<KnownProcess> =>
    startDetached({ binary, args: [...flags, ...more], ...files });
  // Checked before every launch: the data may be removed at any time.
  const resume = async (): Promise<KnownProcess> => {
    if (!(await holdsLog(dataDir))) throw await absentError(dir, dataDir, files.logFile);
    await markPresent(dir).catch(() => undefined);
    return launch(EXISTING);
  };

  let running = await findRunning(files.pidFile, dataDir);
  if (running !== null && own !== null && runsWith(flagsWith(null))) {
    onWarning(
      `etcd (pid ${running.pid}) was started with an open client port; end it, and it is protected from then on`,
    );
    clientTls = null;
    flags = flagsWith(null);
  } else if (running !== null && (own?.isNew === true || !runsWith(flags))) {
    onWarning(`etcd (pid ${running.pid}) does not run with the configured flags; restarting it`);
    await stopProcess(running);
    running = null;
  }
  const endpoint = clientUrl(options.clientListen, clientTls?.files ?? null);
  const adopted = running !== null;
  const holds = await holdsLog(dataDir);
  if (!adopted) await refuseRemoved(dir, holds);
  const start = () => (holds ? resume() : begin(options, dataDir, files.logFile).then(launch));
  let current: KnownProcess = running ?? (await start());
  if (!adopted) await settle(current, endpoint, clientTls?.texts ?? null, { dir, ...files });
  if (await holdsLog(dataDir)) await markPresent(dir);
  if (options.alone === true) {
    await refuseAlone(peerUrl(listenAddress(options), tls?.files ?? null), tls?.texts ?? null);
    await stopProcess(current);
    current = await launch(FORCE_NEW);
    await settle(current, endpoint, clientTls?.texts ?? null, { dir, ...files });
    onWarning("the etcd member of this server is now the only one of its cluster");
  }
  await untilVoter(endpoint, clientTls?.texts ?? null, onWarning);

  const stop = new AbortController();
  const supervising = supervise();

  async function supervise(): Promise<void> {
    let backoffMs: number = BACKOFF_MS.min;
    let startedAt = performance.now();
    while (!stop.signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted || (await isAlive(current))) continue;
      if (await wasRemoved(files.logFile)) {
        options.onRemoved?.(await markRemoved(dir, files.logFile));
        return;
      }
      if (!(await holdsLog(dataDir).catch(() => true))) {
        options.onLost?.(await absentError(dir, dataDir, files.logFile));
        return;
      }
      onWarning(`etcd (pid ${current.pid}) ended; restarting it in ${backoffMs} ms`);
      await sleep(backoffMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      backoffMs = performance.now() - startedAt > STEADY_MS ? BACKOFF_MS.min : Math.min(backoffMs * 2, BACKOFF_MS.max);
      startedAt = performance.now();
      try {
        current = await resume();
      } catch (cause) {
        if (cause instanceof ManagedError) {
          options.onLost?.(cause);
          return;
        }
        onWarning(`etcd not started: ${(cause as Error).message}`);
      }
    }
  }
  const release = async (): Promise<void> => {
    stop.abort();
    await supervising;
  };

  return {
    endpoint,
    tls: clientTls?.texts ?? null,
    version,
    adopted,
    pid: () => current.pid,
    release,
    async stop() {
      await release();
      await stopProcess(current);
    },
  };
}

/** Returns the flags of the first start of a member. */
async function begin(options: ManagedMemberOptions, dataDir: string, logFile: string): Promise<readonly string[]> {
  const { dir } = options;
  if (options.replacesLost !== true && startsAlone(options.begin) && (await wasPresent(dir))) throw lostError(dataDir);
  const flags = await flagsFor(options, options.begin, dataDir);
  await setIncompleteAside(dir, dataDir);
  await rotateOutput(logFile);
  return flags;
}

/** A member that joins is announced to the cluster, which knows whether it was a member before. */
const startsAlone = ({ kind }: Begin): boolean => kind === "resume" || kind === "bootstrap";

async function flagsFor(options: ManagedMemberOptions, begin: Begin, dataDir: string): Promise<readonly string[]> {
  const tls = options.tls?.files ?? null;
  switch (begin.kind) {
    case "resume":
      throw new ManagedError(
        "no_data",
        `${dataDir} holds no etcd member; start once with --bootstrap for a new cluster, or with --join for an existing one`,
      );
    case "bootstrap":
      return bootstrapFlags(begin.members, tls);
    case "joined":
      return joiningFlags(begin.members, tls);
    case "join":
      return joiningFlags(await announce(options, begin.endpoints), tls);
    case "ask":
      return flagsFor(options, await begin.ask(), dataDir);
  }
}

/** Resolves when the member answers, or has not ended yet; throws with its last output when it has ended. */
async function settle(
  started: KnownProcess,
  endpoint: string,
  tls: EtcdTls | null,
  { dir, logFile }: { readonly dir: string; readonly logFile: string },
): Promise<void> {
  const client = createEtcdClient({ endpoints: [endpoint], tls });
  const until = performance.now() + SETTLE_MS;
  try {
    while (performance.now() < until) {
      if (!(await isAlive(started))) {
        if (await wasRemoved(logFile)) throw await markRemoved(dir, logFile);
        throw await endedError(logFile);
      }
      if (
        await client.status(WATCH_MS).then(
          () => true,
          () => false,
        )
      )
        return;
      await sleep(WATCH_MS / 5);
    }
  } finally {
    client.close();
  }
}

const endedError = async (logFile: string): Promise<ManagedError> =>
  new ManagedError("did_not_start", `etcd ended at once; its last output:\n${await lastOutput(logFile)}`);

/** A member that ended without its log: the log was removed, or was never created. */
const absentError = async (dir: string, dataDir: string, logFile: string): Promise<ManagedError> =>
  (await wasPresent(dir)) ? lostError(dataDir) : endedError(logFile);
