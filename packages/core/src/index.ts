// The public surface of the pure core.
export * from "./allocation/allocation.ts";
export * from "./allocation/phase.ts";
export * from "./allocation/spec.ts";
export * from "./command.ts";
export * from "./ids.ts";
export * from "./node/node.ts";
export * from "./outcome.ts";
export * from "./state/view.ts";
export * from "./tenant/tenant.ts";
export * from "./vcluster/vcluster.ts";
