// The launches of one node: started by order of a server, found again after a restart of the agent,
// and opened again towards the server whenever the link is back. A launch belongs to a running
// attempt and its processes are the attempt's: whatever ends that ends them as well.

import { open, readdir, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Client } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import type { Logger } from "pino";
import { runTasksCall } from "../link/service.ts";
import { type Bridge, bridge } from "./bridge.ts";
import type { Facilities } from "./facilities.ts";
import type { FencePeers } from "./fence/peers.ts";
import { keepPlace, keepTicket, readPlace, readTicket } from "./fence/place-file.ts";
import { endLeftBehind } from "./left-behind.ts";
import { fittingPreload } from "./preload.ts";
import { helloMessage } from "./reports.ts";
import type { TaskRoom } from "./room.ts";
import { spaces } from "./spaces.ts";
import { spares } from "./spares.ts";
import { type NodeFabric, shepherdSpec } from "./spec.ts";
import { LAUNCHES_FOLDER } from "./start-shepherd.ts";

export interface LaunchesOptions {
  readonly nodeId: string;
  readonly log: Logger;
  readonly facilities: Facilities;
  /** Null: this node exchanges through servers alone. */
  readonly peers: FencePeers | null;
  /** Null: the attempt is not running here. */
  readonly room: (key: string) => Promise<TaskRoom | null>;
  readonly running: (key: string) => boolean;
  /** Numbers of all processes of the attempt. */
  readonly members: (key: string) => Promise<readonly number[]>;
}

export interface Launches {
  start(key: string, order: pb.StartTasks, client: Client): Promise<void>;
  /** Takes up the shepherds that an earlier life of this agent left running. */
  recover(key: string): Promise<void>;
  /** The link is back. */
  connected(client: Client): void;
  /** Nothing of the attempt runs any more. */
  ended(key: string): void;
  readonly size: number;
  close(): void;
}

/** Each costs a process and its ranks. */
export const MAX_LAUNCHES = 64;

/** Well within what the server waits for an answer. */
const ROOM_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;

interface Live {
  readonly key: string;
  readonly bridge: Bridge;
}

export function launches({ nodeId, log, facilities, peers, room, running, members }: LaunchesOptions): Launches {
  const live = new Map<string, Live>();
  const shared = spaces();
  const ready = spares({ facilities, room, running, spaces: shared });
  let client: Client | null = null;

  async function start(key: string, order: pb.StartTasks, to: Client): Promise<void> {
    client = to;
    const { launchId } = order;
    if (live.has(launchId)) return;
    const problem = await attempt(key, order, to).catch(
      (error: Error) => `cannot start its shepherd: ${error.message}`,
    );
    if (problem === null) return;
    log.warn({ attempt: key, launch: launchId, problem }, "tasks not started");
    refuse(to, launchId, problem);
  }

  /** Null: it is started. */
  async function attempt(key: string, order: pb.StartTasks, to: Client): Promise<string | null> {
    // It becomes the name of a folder.
    if (!/^[\w.-]{1,100}$/.test(order.launchId)) return "the launch has no proper name";
    if (live.size >= MAX_LAUNCHES) return `there are ${MAX_LAUNCHES} launches on this node already`;
    const place = await settledRoom(key);
    if (place === null) return "the allocation is not running on this node";
    const problem = order.pmi === pb.PmiMode.PMIX ? facilities.pmix.missing : null;
    if (problem !== null) return `PMIx is not available on this node: ${problem}`;
    const helper = order.pmi === pb.PmiMode.PMIX ? await facilities.pmix.build() : null;
    const spec = shepherdSpec(order, place, await fabricFor(place), helper);
    if (spec === null) return "the order names no tasks for this node";
    const shepherd = await ready.take(key, place);
    // Its end may have come meanwhile; the shepherd goes when its socket does.
    if (!running(key)) {
      shepherd.socket.destroy();
      return "the allocation is not running on this node any more";
    }
    const known = { place: order.fence ?? null, ticket: order.ticket ?? null };
    const link = joined({ key, launchId: order.launchId, found: false, ...known }, shepherd.socket);
    const dir = join(place.dir, LAUNCHES_FOLDER, order.launchId);
    if (order.fence !== undefined) await keepPlace(dir, order.fence);
    link.say({ kind: "spec", spec });
    link.open(to);
    if (order.ticket !== undefined) await keepTicket(dir, order.ticket).catch(() => undefined);
    return null;
  }

  async function fabricFor({ order, root }: TaskRoom): Promise<NodeFabric> {
    const fabric = facilities.fabric();
    return order.software?.image ? { ...fabric, preload: await fittingPreload(fabric.preload, root) } : fabric;
  }

  /** An attempt counts as running a moment before a container of it can be entered. */
  async function settledRoom(key: string): Promise<TaskRoom | null> {
    for (let left = ROOM_WITHIN_MS; running(key); left -= LOOK_EVERY_MS) {
      const found = await room(key);
      if (found !== null || left <= 0) return found;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    return null;
  }

  function joined({ key, launchId, found, place, ticket }: Joined, socket: Socket): Bridge {
    const made = bridge({
      ticket,
      fence: place === null || peers === null ? null : (done) => peers.join(launchId, place, done),
      launchId,
      nodeId,
      socket,
      found,
      over: (told) => {
        live.delete(launchId);
        if (!told) void endRest(key, launchId);
        // Whoever launches once launches again.
        void ready.prepare(key);
      },
    });
    live.set(launchId, { key, bridge: made });
    return made;
  }

  /** A shepherd that was killed took its ranks along, but for those that nothing binds to it. */
  async function endRest(key: string, launchId: string): Promise<void> {
    const ended = await endLeftBehind(() => members(key), launchId);
    if (ended > 0) log.warn({ attempt: key, launch: launchId, ended }, "ended tasks that outlived their shepherd");
  }

  function refuse(to: Client, launchId: string, problem: string): void {
    const { path, serialize, deserialize } = runTasksCall;
    const call = to.makeBidiStreamRequest(path, serialize, deserialize);
    call.on("error", () => undefined);
    call.on("data", () => undefined);
    call.write(helloMessage(launchId, nodeId, problem));
    call.end();
  }

  async function recover(key: string): Promise<void> {
    const place = await room(key);
    if (place === null) return;
    const folder = join(place.dir, LAUNCHES_FOLDER);
    for (const name of await readdir(folder).catch(() => [])) {
      const dir = join(folder, name);
      const socket = await reach(dir);
      if (socket === null) {
        await rm(dir, { recursive: true, force: true });
        continue;
      }
      log.info({ attempt: key, launch: name }, "found a launch of an earlier life");
      const kept = { place: await readPlace(dir), ticket: await readTicket(dir) };
      const made = joined({ key, launchId: name, found: true, ...kept }, socket);
      if (client !== null) made.open(client);
    }
  }

  return {
    start,
    recover,
    connected(to) {
      client = to;
      for (const { bridge: link } of live.values()) link.open(to);
    },
    ended: shared.forget,
    get size() {
      return live.size;
    },
    close() {
      ready.close();
      shared.close();
      for (const { bridge: link } of live.values()) link.close();
      live.clear();
    },
  };
}

interface Joined {
  readonly key: string;
  readonly launchId: string;
  /** Of an earlier life of the agent. */
  readonly found: boolean;
  readonly place: pb.FencePlace | null;
  readonly ticket: pb.LaunchTicket | null;
}

/** Null: nobody listens there. The folder is named by a descriptor, since a socket's address is short. */
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
