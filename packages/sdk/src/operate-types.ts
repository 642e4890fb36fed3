// Queues, the scheduler's own figures, settings, services and accounts, as they are on the wire.

export interface Deleted {
  readonly id: string;
  readonly log_index?: string;
}

export interface Queue {
  readonly vcluster: string;
  readonly entries?: readonly QueueEntry[];
  readonly next_page_token?: string;
  readonly total?: number;
  readonly as_of?: string;
}

export interface QueueEntry {
  readonly position: number;
  readonly allocation_id?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly name?: string;
  readonly min_nodes?: number;
  readonly max_nodes?: number;
  readonly walltime_seconds?: number;
  readonly preemption_class?: number;
  readonly submitted_at?: string;
  readonly estimated_start?: string;
  readonly reserved?: boolean;
  /** In thousandths. */
  readonly score?: number;
  readonly reasons?: readonly string[];
  readonly reason_codes?: readonly string[];
}

export interface SchedulerStatus {
  readonly leader?: string;
  readonly vclusters?: readonly VClusterCycles[];
}

export interface VClusterCycles {
  readonly vcluster: string;
  readonly scheduler?: string;
  readonly cycle_interval_seconds?: number;
  readonly pending?: number;
  readonly running?: number;
  readonly cycles?: number;
  readonly last_cycle?: string;
  readonly last_cycle_seconds?: number;
  readonly longest_cycle_seconds?: number;
  readonly considered?: number;
  readonly reservations?: number;
  readonly placements?: number;
  readonly placements_refused?: number;
  readonly preemptions?: number;
  readonly waiting?: Readonly<Record<string, number>>;
}

export interface AccountingQuery {
  readonly tenant?: string;
  readonly user?: string;
  readonly vcluster?: string;
  readonly project?: string;
  readonly state?: readonly string[];
  /** RFC 3339. */
  readonly since?: string;
  readonly until?: string;
}

export interface AccountingPage {
  readonly records?: readonly AccountingRecord[];
  readonly next_page_token?: string;
}

export interface AccountingRecord {
  readonly allocation_id: string;
  readonly name?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly project?: string;
  readonly vcluster?: string;
  readonly state: string;
  readonly reason?: string;
  readonly exit_code?: number;
  readonly submitted_at?: string;
  readonly started_at?: string;
  readonly ended_at?: string;
  readonly nodes?: number;
  readonly attempts?: number;
  readonly elapsed_seconds?: number;
  readonly waited_seconds?: number;
  readonly node_hours?: number;
  readonly gpu_hours?: number;
  readonly walltime_used?: number;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Setting {
  readonly key: string;
  /** As written in JSON. */
  readonly value: string;
  readonly live?: boolean;
  readonly source?: "file" | "cluster";
  readonly set_at?: string;
  readonly set_by?: string;
}

export interface ServiceSummary {
  readonly name: string;
  readonly tenant?: string;
  readonly endpoints?: number;
}

export interface ServiceEndpoint {
  readonly allocation_id: string;
  readonly tenant?: string;
  readonly node?: string;
  readonly address?: string;
  readonly port?: number;
  /** What it speaks, as its allocation says. */
  readonly protocol?: string;
}

/** What a server counts about itself. */
export interface ServerMetrics {
  readonly component?: string;
  readonly server?: string;
  readonly at?: string;
  readonly started_at?: string;
  /** As far back as it remembers. */
  readonly since?: string;
  readonly samples?: readonly ServerMetric[];
}

export interface ServerMetric {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value?: number;
  readonly points?: readonly { readonly at: string; readonly value?: number }[];
}
