// Commands with which users submit single allocations, and hold, change or end what they have.

import type { AllocationId, Duration } from "../ids.ts";
import type { Origin } from "../origin.ts";
import type { AllocationSpec, Environment, LivenessProbe, ScalePolicy, Task, TelemetryMode } from "./spec.ts";

export interface SubmitCommand {
  readonly kind: "allocation.submit";
  readonly origin: Origin;
  readonly spec: AllocationSpec;
  /** From configuration: an unknown tenant is made rather than refused. */
  readonly createTenant: boolean;
  /** It waits until somebody releases it. Absent: it does not. */
  readonly hold?: boolean;
}
/** Work that waits is held, or released. */
export interface HoldCommand {
  readonly kind: "allocation.hold";
  readonly origin: Origin;
  readonly id: AllocationId;
  readonly held: boolean;
  /** Whether the sender administers the work, and so releases what others than its owner hold. */
  readonly admin: boolean;
  /** Of a task group only these elements, by index; absent: all. */
  readonly elements?: readonly IndexRange[];
}
export interface CancelCommand {
  readonly kind: "allocation.cancel";
  readonly origin: Origin;
  readonly id: AllocationId;
  readonly reason: string;
  /** Of a task group only these elements, by index; absent: all. */
  readonly elements?: readonly IndexRange[];
}
/** Both ends belong to it. */
export interface IndexRange {
  readonly from: number;
  readonly to: number;
}
export interface UpdateAllocationCommand {
  readonly kind: "allocation.update";
  readonly origin: Origin;
  readonly id: AllocationId;
  /** Only what is present changes. */
  readonly change: {
    readonly walltime?: Duration;
    readonly preemptionClass?: number;
    readonly name?: string;
    readonly tags?: Readonly<Record<string, string>>;
    /** Taken from its tags, and then added to them. */
    readonly removeTags?: readonly string[];
    readonly setTags?: Readonly<Record<string, string>>;
    readonly telemetry?: { readonly mode: TelemetryMode; readonly lasts: Duration | null };
    /** Of a service: what its nodes are to run from now on, one after the other. */
    readonly service?: ServiceChange;
  };
}
export interface ServiceChange {
  readonly task?: Task;
  readonly environment?: Environment;
  readonly scale?: ScalePolicy;
  /** Null: it is asked no more. */
  readonly probe?: LivenessProbe | null;
}
