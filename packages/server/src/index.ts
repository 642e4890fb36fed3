// The public surface of the server package: what tests and tools may start, whole or in parts.

// The parts of a server, for a program that brings its own network, clock and log.
export { type ConnectCall, type ConnectContext, handleConnect } from "./agents/connect.ts";
export { type AgentHub, createAgentHub } from "./agents/hub.ts";
export { failureRules } from "./agents/report-command.ts";
export { refuseAgent } from "./agents/service.ts";
export { createCheckpointBoard } from "./checkpoint/board.ts";
export { type Clock, systemClock } from "./clock.ts";
export { type Config, loadConfig } from "./config/index.ts";
export { createBroker } from "./controllers/checkpoint/act.ts";
export { isPromised } from "./controllers/scaling/promised.ts";
export { archiveTo } from "./history/archive.ts";
export type { History, HistoryRecord } from "./history/index.ts";
export { decodeLine, encodeRecord, recordOf } from "./history/line.ts";
export { type Leader, type LeadOptions, startLeading } from "./leader/lead.ts";
export {
  createMemoryStore,
  type Leadership,
  LogError,
  type MemoryStore,
  openMemoryLog,
  type ReplicatedLog,
  type StoredEntry,
} from "./log/index.ts";
export { createLogger, type Logger, type Metrics } from "./observe/index.ts";
export { openReplica, type Replica } from "./replica/replica.ts";
export { type Snapshotter, startSnapshotter } from "./replica/snapshotter.ts";
export { type RunningServer, startServer } from "./server.ts";
