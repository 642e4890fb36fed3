// Every generated message, enum and service, under one name. Import it as `pb`.
export { type Status, StatusSchema } from "../gen/google/rpc/status_pb.ts";
export * from "../gen/lattice/v1/access_pb.ts";
export * from "../gen/lattice/v1/admin_pb.ts";
export * from "../gen/lattice/v1/agent_pb.ts";
export * from "../gen/lattice/v1/allocations_pb.ts";
export * from "../gen/lattice/v1/dags_pb.ts";
export * from "../gen/lattice/v1/explain_pb.ts";
export * from "../gen/lattice/v1/groups_pb.ts";
export * from "../gen/lattice/v1/images_pb.ts";
export * from "../gen/lattice/v1/nodes_pb.ts";
export * from "../gen/lattice/v1/observe_pb.ts";
export * from "../gen/lattice/v1/operate_pb.ts";
export * from "../gen/lattice/v1/peer_pb.ts";
export * from "../gen/lattice/v1/problem_pb.ts";
export * from "../gen/lattice/v1/services_pb.ts";
export * from "../gen/lattice/v1/tasks_pb.ts";
export * from "../gen/lattice/v1/terminal_pb.ts";
export * from "../gen/lattice/v1/usage_pb.ts";
