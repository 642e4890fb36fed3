// A control plane of a few lines: takes agents, acknowledges reports on request, sends the
// orders a test asks for, and keeps everything that it heard.

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream, type ServerReadableStream } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";

type Stream = ServerDuplexStream<pb.AgentMessage, pb.ServerMessage>;

export interface Log {
  text: string;
  bytes: number;
  error: string;
  ended: boolean;
}

export interface FakeServer {
  readonly address: string;
  readonly hellos: pb.Hello[];
  readonly heartbeats: pb.Heartbeat[];
  readonly reports: pb.Report[];
  readonly conditions: pb.ConditionReport[];
  readonly answers: pb.ImageAnswer[];
  readonly logs: Map<string, Log>;
  /** `refuse`: with this code, or null. */
  settings: {
    acknowledge: boolean;
    refuse: string | null;
    heartbeatMs: number;
    keepText: boolean;
    protocol: number;
    authenticated: boolean;
    /** The identity that it names; empty for a server without one. */
    cluster: string;
    /** The last applied index that it names in every message. */
    logIndex: number;
    /** Logs of different names differ in every entry. */
    log: string;
  };
  connected(): number;
  send(message: pb.ServerMessage["message"], nodeId?: string): void;
  run(order: MessageInitShape<typeof pb.RunOrderSchema>): void;
  stop(order: MessageInitShape<typeof pb.StopOrderSchema>): void;
  openLogs(order: MessageInitShape<typeof pb.OpenLogsSchema>): void;
  /** The report that ends this attempt. */
  end(allocationId: string, attempt?: number): Promise<pb.Report>;
  running(allocationId: string, attempt?: number): Promise<pb.Report>;
  disconnect(): void;
  close(): Promise<void>;
}

const positionIn = (log: string, index: number) => ({ index, hash: log.padStart(16, "0"), termHash: "" });

export async function fakeServer(port = 0): Promise<FakeServer> {
  const streams = new Map<string, Stream>();
  const server = new Server();
  const fake: FakeServer = {
    address: "",
    hellos: [],
    heartbeats: [],
    reports: [],
    conditions: [],
    answers: [],
    logs: new Map(),
    settings: {
      ...{ acknowledge: true, refuse: null, heartbeatMs: 200, keepText: true, protocol: 1, authenticated: true },
      ...{ cluster: "", logIndex: 0, log: "a" },
    },
    connected: () => streams.size,
    send(message, nodeId) {
      const to = nodeId === undefined ? [...streams.values()] : [streams.get(nodeId)];
      for (const stream of to) stream?.write(messageOf(message));
    },
    run: (order) => fake.send({ case: "run", value: create(pb.RunOrderSchema, { attempt: 1, ...order }) }),
    stop: (order) => fake.send({ case: "stop", value: create(pb.StopOrderSchema, { attempt: 1, ...order }) }),
    openLogs: (order) => fake.send({ case: "openLogs", value: create(pb.OpenLogsSchema, { attempt: 1, ...order }) }),
    end: (allocationId, attempt = 1) =>
      found(() => fake.reports.find((r) => r.allocationId === allocationId && r.attempt === attempt && isEnd(r))),
    running: (allocationId, attempt = 1) =>
      found(() =>
        fake.reports.find(
          (r) => r.allocationId === allocationId && r.attempt === attempt && r.state === pb.AllocationState.RUNNING,
        ),
      ),
    disconnect() {
      for (const stream of streams.values()) stream.end();
      streams.clear();
    },
    close: async () => server.forceShutdown(),
  };

  const messageOf = (message: pb.ServerMessage["message"]) =>
    create(pb.ServerMessageSchema, { message, log: positionIn(fake.settings.log, fake.settings.logIndex) });

  function connect(stream: Stream): void {
    let nodeId = "";
    const gone = (): void => {
      if (streams.get(nodeId) === stream) streams.delete(nodeId);
      stream.end();
    };
    stream.on("error", gone);
    stream.on("end", gone);
    // All that is heard of a client that was killed.
    stream.on("cancelled", gone);
    stream.on("data", ({ message }: pb.AgentMessage) => {
      if (message.case === "hello") {
        fake.hellos.push(message.value);
        nodeId = message.value.nodeId;
        if (fake.settings.refuse !== null) {
          const value = create(pb.RefusedSchema, { code: fake.settings.refuse, detail: "not today" });
          stream.write(messageOf({ case: "refused", value }));
          return;
        }
        streams.set(nodeId, stream);
        const { protocol: protocolVersion, heartbeatMs: heartbeatIntervalMs, authenticated } = fake.settings;
        const facts = { protocolVersion, heartbeatIntervalMs, callersAuthenticated: authenticated };
        const identity = { clusterId: fake.settings.cluster, clusterGeneration: 1 };
        const knownLog = positionIn(fake.settings.log, message.value.knownLog?.index ?? 0);
        const value = create(pb.WelcomeSchema, { ...facts, ...identity, knownLog });
        stream.write(messageOf({ case: "welcome", value }));
      } else if (message.case === "heartbeat") {
        fake.heartbeats.push(message.value);
      } else if (message.case === "condition") {
        fake.conditions.push(message.value);
      } else if (message.case === "imageAnswer") {
        fake.answers.push(message.value);
      } else if (message.case === "report") {
        fake.reports.push(message.value);
        if (!fake.settings.acknowledge) return;
        const value = create(pb.ReportAckSchema, { number: message.value.number });
        stream.write(messageOf({ case: "ack", value }));
      }
    });
  }

  function sendLogs(
    call: ServerReadableStream<pb.AgentLogChunk, pb.SendLogsResponse>,
    answer: (error: null, response: pb.SendLogsResponse) => void,
  ): void {
    let log: Log | null = null;
    call.on("data", (chunk: pb.AgentLogChunk) => {
      log ??= fake.logs.get(chunk.streamId) ?? { text: "", bytes: 0, error: "", ended: false };
      fake.logs.set(chunk.streamId, log);
      log.bytes += chunk.data.length;
      if (fake.settings.keepText) log.text += Buffer.from(chunk.data).toString();
      log.error ||= chunk.error;
    });
    const over = (): void => {
      if (log !== null) log.ended = true;
    };
    call.on("error", over);
    call.on("cancelled", over);
    call.on("end", () => {
      over();
      answer(null, create(pb.SendLogsResponseSchema));
    });
  }

  const definition = {
    connect: method("Connect", pb.AgentMessageSchema, pb.ServerMessageSchema, true),
    sendLogs: method("SendLogs", pb.AgentLogChunkSchema, pb.SendLogsResponseSchema, false),
  };
  server.addService(definition, { connect, sendLogs });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error === null ? resolve(at) : reject(error),
    );
  });
  return Object.assign(fake, { address: `127.0.0.1:${bound}` });
}

function method<
  In extends typeof pb.AgentMessageSchema | typeof pb.AgentLogChunkSchema,
  Out extends typeof pb.ServerMessageSchema | typeof pb.SendLogsResponseSchema,
>(name: string, input: In, output: Out, responseStream: boolean) {
  return {
    path: `/lattice.v1.AgentService/${name}`,
    requestStream: true,
    responseStream,
    requestSerialize: (m: object) => Buffer.from(toBinary(input, m as never)),
    requestDeserialize: (b: Buffer) => fromBinary<In>(input, b),
    responseSerialize: (m: object) => Buffer.from(toBinary(output, m as never)),
    responseDeserialize: (b: Buffer) => fromBinary<Out>(output, b),
  };
}

const isEnd = (r: pb.Report): boolean =>
  r.state === pb.AllocationState.COMPLETED || r.state === pb.AllocationState.FAILED;

const DEADLINE_MS = 60_000;

/** Looks until there is something to be found. */
export async function found<T>(look: () => T | undefined | null | false | ""): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = look();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`not found in time: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
