// The public surface of the server package: its parts, for programs with their own network, clock and log.

export type { Clock } from "./base/clock.ts";
export { type Config, loadConfig } from "./base/config/index.ts";
export type { Logger, Metrics } from "./base/observe/index.ts";
export { createBroker } from "./lead/controllers/checkpoint/act.ts";
export { isReserved } from "./lead/controllers/scaling/reserved-nodes.ts";
export { type Leader, type LeadOptions, startLeading } from "./lead/leader/lead.ts";
export { startInline } from "./lead/planner/inline.ts";
export { createPlannerLink } from "./lead/planner/link.ts";
export type { ObserveCycle } from "./lead/planner/planner.ts";
export type { StartPlanner } from "./lead/planner/port.ts";
export {
  createMemoryStore,
  type Leadership,
  LogError,
  type MemoryStore,
  openMemoryLog,
  type ReplicatedLog,
  type StoredEntry,
} from "./log/index.ts";
export { createCheckpointBoard } from "./nodes/agents/checkpoint-board.ts";
export { type ConnectCall, handleConnect } from "./nodes/agents/connect.ts";
export { type AgentHub, createAgentHub } from "./nodes/agents/hub.ts";
export { failureRules } from "./nodes/agents/report-command.ts";
export { refuseAgent } from "./peers/agent-service.ts";
export { archiveTo } from "./state/history/archive.ts";
export type { History, HistoryRecord } from "./state/history/index.ts";
export { decodeLine, encodeRecord, recordOf } from "./state/history/line.ts";
export { ClusterMismatchError, openOwnCluster } from "./state/own-cluster.ts";
export { openReplica, type Replica } from "./state/replica/replica.ts";
export { startSnapshotter } from "./state/replica/snapshotter.ts";
