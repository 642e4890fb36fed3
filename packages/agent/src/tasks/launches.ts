// The launches of one node: started by order of a server, recovered after a restart of the agent, and reconnected to
// the server when the link is back. A launch belongs to a running attempt and ends with it.

import { open, readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Client } from "@grpc/grpc-js";
import { failed, ok, type Result } from "@lattice/core";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { removeOwn } from "../files/own-tree.ts";
import { runTasksCall } from "../link/service.ts";
import { type Bridge, bridge } from "./bridge.ts";
import type { Facilities } from "./facilities.ts";
import type { FencePeers } from "./fence/peers.ts";
import { keepPlace, keepTicket, readPlace, readTicket } from "./fence/place-file.ts";
import { endLeftBehind } from "./left-behind.ts";
import { launchPlaces } from "./places.ts";
import { fittingPreload } from "./preload.ts";
import { helloMessage } from "./reports.ts";
import { spaces } from "./spaces.ts";
import { type Spares, spares } from "./spares.ts";
import { type NodeFabric, shepherdSpec } from "./spec.ts";
import { LAUNCHES_FOLDER } from "./start-shepherd.ts";
import type { TaskContext } from "./task-context.ts";

interface LaunchesOptions {
  readonly nodeId: string;
  readonly log: Logger;
  readonly facilities: Facilities;
  /** `null` when this node exchanges only through servers. */
  readonly peers: FencePeers | null;
  /** Resolves to null when the attempt is not running here. */
  readonly context: (key: string) => Promise<TaskContext | null>;
  readonly running: (key: string) => boolean;
  /** Process ids of the attempt. */
  readonly members: (key: string) => Promise<readonly number[]>;
  /** The environment of a process of the attempt. */
  readonly environ: (key: string, pid: number) => Promise<Buffer>;
}

export interface NodeLaunchTable {
  start(key: string, order: pb.StartTasks, client: Client): Promise<void>;
  /** Adopts shepherds of an earlier run of this agent. */
  recover(key: string): Promise<void>;
  /** The link is back. */
  connected(client: Client): void;
  /** The attempt has ended. */
  ended(key: string): void;
  readonly size: number;
  close(): void;
}

/** Shorter than the server's timeout. */
const ROOM_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;

interface LiveLaunch {
  readonly key: string;
  readonly bridge: Bridge;
}

export const launches = (options: LaunchesOptions): NodeLaunchTable => new NodeLaunches(options);

class NodeLaunches implements NodeLaunchTable {
  readonly #options: LaunchesOptions;
  readonly #live = new Map<string, LiveLaunch>();
  readonly #spaces = spaces();
  readonly #places = launchPlaces();
  readonly #spares: Spares;
  #client: Client | null = null;

  constructor(options: LaunchesOptions) {
    this.#options = options;
    const { facilities, context, running } = options;
    this.#spares = spares({ facilities, context, running, spaces: this.#spaces });
  }

  get size(): number {
    return this.#live.size;
  }

  async start(key: string, order: pb.StartTasks, client: Client): Promise<void> {
    this.#client = client;
    const { launchId } = order;
    if (this.#live.has(launchId)) return;
    const started = await this.#tryStart(key, order, client).catch((error: Error) =>
      failed(`cannot start its shepherd: ${error.message}`),
    );
    if (started.ok) return;
    this.#options.log.warn({ attempt: key, launch: launchId, problem: started.error }, "launch not started");
    this.#refuse(client, launchId, started.error);
  }

  async recover(key: string): Promise<void> {
    const context = await this.#options.context(key);
    if (context === null) return;
    const folder = join(context.dir, LAUNCHES_FOLDER);
    for (const name of await readdir(folder).catch(() => [])) {
      const dir = join(folder, name);
      const socket = await reach(dir);
      if (socket === null) {
        await removeOwn(dir);
        continue;
      }
      this.#options.log.info({ attempt: key, launch: name }, "recovered a launch of an earlier agent");
      const kept = { place: await readPlace(dir), ticket: await readTicket(dir) };
      const leave = this.#places.keep(context.order.user);
      const made = this.#join({ key, launchId: name, found: true, leave, ...kept }, socket);
      if (this.#client !== null) made.open(this.#client);
    }
  }

  connected(client: Client): void {
    this.#client = client;
    for (const { bridge: link } of this.#live.values()) link.open(client);
  }

  ended(key: string): void {
    this.#spaces.forget(key);
  }

  close(): void {
    this.#spares.close();
    this.#spaces.close();
    for (const { bridge: link } of this.#live.values()) link.close();
    this.#live.clear();
  }

  async #tryStart(key: string, order: pb.StartTasks, client: Client): Promise<Result<void>> {
    // The id becomes a directory name.
    if (!/^[\w.-]{1,100}$/.test(order.launchId)) return failed("the launch has no proper name");
    const context = await this.#settledContext(key);
    if (context === null) return failed("the allocation is not running on this node");
    const place = this.#places.take(context.order.user);
    if (!place.ok) return place;
    const leave = place.value;
    const started = await this.#startIn(context, { key, order, client, leave }).catch((error: Error) => {
      leave();
      throw error;
    });
    if (!started.ok) leave();
    return started;
  }

  async #startIn(context: TaskContext, { key, order, client, leave }: Starting): Promise<Result<void>> {
    const { facilities, running } = this.#options;
    const wantsPmix = order.pmi === pb.PmiMode.PMIX;
    if (wantsPmix && facilities.pmix.missing !== null)
      return failed(`PMIx is not available on this node: ${facilities.pmix.missing}`);
    const helper = wantsPmix ? await facilities.pmix.build() : null;
    const spec = shepherdSpec(order, context, await this.#fabricFor(context), helper);
    if (spec === null) return failed("the order names no tasks for this node");
    const shepherd = await this.#spares.take(key, context);
    // The attempt may have ended meanwhile; a shepherd ends with its socket.
    if (!running(key)) {
      shepherd.socket.destroy();
      return failed("the allocation is not running on this node any more");
    }
    const known = { place: order.fence ?? null, ticket: order.ticket ?? null };
    const link = this.#join({ key, launchId: order.launchId, found: false, leave, ...known }, shepherd.socket);
    const dir = join(context.dir, LAUNCHES_FOLDER, order.launchId);
    if (order.fence !== undefined) await keepPlace(dir, order.fence);
    link.say({ kind: "spec", spec });
    link.open(client);
    if (order.ticket !== undefined) await keepTicket(dir, order.ticket).catch(() => undefined);
    return ok(undefined);
  }

  async #fabricFor(context: TaskContext): Promise<NodeFabric> {
    const fabric = this.#options.facilities.fabric();
    return context.order.environment?.image
      ? { ...fabric, preload: await fittingPreload(fabric.preload, context) }
      : fabric;
  }

  /** Waits for the attempt's context: an attempt counts as running a moment before its container can be entered. */
  async #settledContext(key: string): Promise<TaskContext | null> {
    const { running, context } = this.#options;
    for (let left = ROOM_WITHIN_MS; running(key); left -= LOOK_EVERY_MS) {
      const found = await context(key);
      if (found !== null || left <= 0) return found;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    return null;
  }

  #join({ key, launchId, found, place, ticket, leave }: Joined, socket: Socket): Bridge {
    const { peers, nodeId } = this.#options;
    const made = bridge({
      ticket,
      fence: place === null || peers === null ? null : (done, tooMuch) => peers.join(launchId, place, done, tooMuch),
      launchId,
      nodeId,
      socket,
      found,
      over: (reported) => {
        this.#live.delete(launchId);
        leave();
        if (!reported) void this.#endRest(key, launchId);
        // A program that launches once is likely to launch again.
        void this.#spares.prepare(key);
      },
    });
    this.#live.set(launchId, { key, bridge: made });
    return made;
  }

  /** The kernel kills most ranks with their shepherd; ranks that changed their user may outlive it. */
  async #endRest(key: string, launchId: string): Promise<void> {
    const { members, environ, log } = this.#options;
    const processes = { members: () => members(key), environ: (pid: number) => environ(key, pid) };
    const ended = await endLeftBehind(processes, launchId);
    if (ended > 0) log.warn({ attempt: key, launch: launchId, ended }, "killed tasks that outlived their shepherd");
  }

  #refuse(client: Client, launchId: string, problem: string): void {
    const { path, serialize, deserialize } = runTasksCall;
    const call = client.makeBidiStreamRequest(path, serialize, deserialize);
    call.on("error", () => undefined);
    call.on("data", () => undefined);
    call.write(helloMessage(launchId, this.#options.nodeId, problem));
    call.end();
  }
}

interface Starting {
  readonly key: string;
  readonly order: pb.StartTasks;
  readonly client: Client;
  readonly leave: () => void;
}

interface Joined {
  readonly key: string;
  readonly launchId: string;
  /** Adopted from an earlier run of the agent. */
  readonly found: boolean;
  readonly place: pb.FencePlace | null;
  readonly ticket: pb.LaunchTicket | null;
  /** Releases its place. */
  readonly leave: () => void;
}

/**
 * Resolves to null when no shepherd listens there. The folder is named by a descriptor, since socket addresses are
 * short.
 */
async function reach(dir: string): Promise<ReturnType<typeof connect> | null> {
  const folder = await open(dir, "r").catch(() => null);
  if (folder === null) return null;
  const socket = connect(`/proc/self/fd/${folder.fd}/agent.sock`);
  const reached = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  await folder.close();
  return reached ? socket : null;
}
