// What has happened to an allocation, and notices, as JSON shows them.

export interface AllocationEvent {
  readonly cursor: string;
  readonly at: string;
  readonly type: "state" | "decision" | "failure" | "scaling" | "preemption";
  readonly kind: string;
  readonly text: string;
  readonly attempt?: number;
  readonly nodes?: readonly string[];
  readonly scores?: Readonly<Record<string, number>>;
  readonly reason?: string;
  readonly exit_code?: number;
}

export interface EventList {
  readonly id: string;
  readonly events?: readonly AllocationEvent[];
  readonly left_out?: number;
  readonly log_index?: string;
}

export interface EventFilter {
  /** Of the last event seen. */
  readonly cursor?: string;
  readonly types?: readonly AllocationEvent["type"][];
}

export interface Notice {
  readonly key: string;
  readonly kind: string;
  readonly at: string;
  readonly text: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly allocation_id?: string;
  readonly node?: string;
  readonly cleared_at?: string;
}

export interface NoticeList {
  readonly notices?: readonly Notice[];
  readonly log_index?: string;
}

/** Of a node, as something that watches it from outside has found. */
export interface HealthReport {
  readonly status: "ok" | "warning" | "critical";
  readonly component?: string;
  readonly message?: string;
}
