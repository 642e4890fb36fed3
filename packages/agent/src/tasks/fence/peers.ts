// The connections between agents of one large launch: each listens for its children and dials its parent. A member
// proves itself by the key that the leader gave to the nodes of the launch, and by its node certificate where the
// cluster has certificates; the key is checked before any message is read. A broken stream is reopened until the launch is over; the ranks' fence timeout ends a
// launch that cannot recover.

import { timingSafeEqual } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { type ChannelCredentials, Client, type ClientDuplexStream, Metadata, Server, status } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { entriesBytes, MAX_FENCE_BYTES } from "../base/exchange-limits.ts";
import type { PmiEntry } from "../base/name-types.ts";
import { type FenceEffect, fenceTree } from "./tree.ts";
import type { FenceTrust } from "./trust.ts";

export interface FencePeers {
  /** host:port, for others. */
  readonly address: string;
  join(
    launchId: string,
    place: pb.FencePlace,
    done: (number: number, entries: readonly PmiEntry[]) => void,
    /** The ranks bring more to one fence than the nodes may carry. */
    tooMuch: () => void,
  ): FenceMember;
  close(): void;
}

export interface FenceMember {
  /** All ranks of this node are in the fence. */
  bring(number: number, entries: readonly PmiEntry[]): void;
  leave(): void;
}

const OPEN_AGAIN_MS = [50, 100, 200, 500, 1_000] as const;
/** With the overhead of short values. */
const MAX_MESSAGE_BYTES = 2 * MAX_FENCE_BYTES;
const LIMITS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
};

interface Local {
  readonly key: string;
  took(stream: FenceStream, message: pb.FenceMessage): void;
}

/** `listen`: host:port; port 0: any. */
export async function fencePeers(listen: string, advertised: string, trust: FenceTrust): Promise<FencePeers> {
  const local = new Map<string, Local>();
  const server = new Server(LIMITS);
  server.addService({ exchange: exchangeCall }, { exchange: receive });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, trust.listener(), (error, at) => (error === null ? resolve(at) : reject(error)));
  });

  function receive(stream: FenceStream): void {
    stream.on("error", () => undefined);
    stream.on("end", () => stream.end());
    const launchId = shown(stream.metadata, LAUNCH).toString();
    const found = local.get(launchId);
    // The order may not have arrived here yet; the peer retries.
    if (found === undefined || !isSame(shown(stream.metadata, KEY), found.key))
      return void stream.emit("error", { code: status.NOT_FOUND, details: "there is no such launch here" });
    stream.on("data", (message: pb.FenceMessage) => {
      if (message.launchId === launchId && local.get(launchId) === found) found.took(stream, message);
    });
  }

  return {
    address: `${advertised}:${port}`,
    join(launchId, place, done, tooMuch) {
      /** By node, for the current fence. */
      const held = new Map<number, number>();
      const tree = fenceTree(place.below, place.above === "");
      const streams = new Map<number, FenceStream>();
      const above = place.above === "" ? null : upwards(place, fromAbove, () => tree.pending());
      const messageOf = (number: number, entries: readonly PmiEntry[]): pb.FenceMessage =>
        create(pb.FenceMessageSchema, {
          launchId,
          key: place.key,
          node: place.own,
          number,
          entries: entries.map(([key, value]) => create(pb.KeyValueSchema, { key, value })),
        });

      function perform(effects: readonly FenceEffect[]): void {
        for (const effect of effects) {
          if (effect.kind === "done") done(effect.number, effect.entries);
          else if (effect.kind === "up") above?.send(messageOf(effect.number, effect.entries));
          else for (const node of effect.to) streams.get(node)?.write(messageOf(effect.number, effect.entries));
        }
      }

      function fromAbove(message: pb.FenceMessage): void {
        perform(tree.fromAbove(message.number, pairs(message)));
      }

      local.set(launchId, {
        key: place.key,
        took(stream, message) {
          const problem = trust.mismatch(stream, place.belowNodes[place.below.indexOf(message.node)] ?? "");
          if (problem !== null) return void stream.emit("error", { code: status.PERMISSION_DENIED, details: problem });
          streams.set(message.node, stream);
          const entries = pairs(message);
          held.set(message.node, entriesBytes(entries));
          if ([...held.values()].reduce((sum, bytes) => sum + bytes, 0) > MAX_FENCE_BYTES) return tooMuch();
          perform(tree.fromBelow(message.node, message.number, entries));
        },
      });
      return {
        bring: (number, entries) => perform(tree.own(number, entries)),
        leave() {
          local.delete(launchId);
          above?.close();
          for (const stream of streams.values()) stream.end();
        },
      };

      function upwards(
        { above: address, aboveNode }: pb.FencePlace,
        took: (message: pb.FenceMessage) => void,
        pending: () => { readonly number: number; readonly entries: readonly PmiEntry[] } | null,
      ) {
        const metadata = new Metadata();
        metadata.set(LAUNCH, Buffer.from(launchId));
        metadata.set(KEY, Buffer.from(place.key));
        return dialAbove({ address, how: trust.channel(aboveNode), metadata }, took, () => {
          const unanswered = pending();
          return unanswered === null ? null : messageOf(unanswered.number, unanswered.entries);
        });
      }
    },
    close: () => server.forceShutdown(),
  };
}

/** Shown when a stream opens. */
const LAUNCH = "lattice-launch-bin";
const KEY = "lattice-key-bin";

function shown(metadata: Metadata, name: string): Buffer {
  const [value] = metadata.get(name);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function isSame(key: Buffer, wanted: string): boolean {
  const expected = Buffer.from(wanted);
  return key.length === expected.length && timingSafeEqual(key, expected);
}

interface Above {
  send(message: pb.FenceMessage): void;
  close(): void;
}

/** Opened with the first message, and reopened whenever it breaks while an answer is outstanding. */
function dialAbove(
  {
    address,
    how,
    metadata,
  }: { readonly address: string; readonly how: ChannelCredentials; readonly metadata: Metadata },
  took: (message: pb.FenceMessage) => void,
  unanswered: () => pb.FenceMessage | null,
): Above {
  const client = new Client(address, how, { ...LIMITS, "grpc.enable_http_proxy": 0 });
  let stream: ClientDuplexStream<pb.FenceMessage, pb.FenceMessage> | null = null;
  let tries = 0;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;

  function open(): NonNullable<typeof stream> {
    if (stream !== null) return stream;
    const { path, requestSerialize, responseDeserialize } = exchangeCall;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    stream = call;
    call.on("data", (message: pb.FenceMessage) => {
      tries = 0;
      took(message);
    });
    const lost = (): void => {
      if (stream !== call) return;
      stream = null;
      if (!closed) timer = setTimeout(again, OPEN_AGAIN_MS[Math.min(tries++, OPEN_AGAIN_MS.length - 1)]).unref();
    };
    call.on("error", lost);
    call.on("end", lost);
    return call;
  }

  function again(): void {
    const message = unanswered();
    if (!closed && message !== null) open().write(message);
  }

  return {
    send: (message) => void open().write(message),
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      stream?.cancel();
      client.close();
    },
  };
}

const pairs = ({ entries }: pb.FenceMessage): readonly PmiEntry[] =>
  entries.map(({ key, value }) => [key, value] as const);

type FenceStream = ServerDuplexStream<pb.FenceMessage, pb.FenceMessage>;

const write = (message: pb.FenceMessage): Buffer => Buffer.from(toBinary(pb.FenceMessageSchema, message));
const read = (bytes: Buffer): pb.FenceMessage => fromBinary(pb.FenceMessageSchema, bytes);

const exchangeCall = {
  path: "/lattice.v1.FenceService/Exchange",
  requestStream: true,
  responseStream: true,
  requestSerialize: write,
  requestDeserialize: read,
  responseSerialize: write,
  responseDeserialize: read,
} as const;
