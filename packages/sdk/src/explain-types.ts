// Explanations, trial runs, timelines and signals as JSON shows them. What is empty or concerns somebody whom the
// caller may not see is left out.

export interface Cause {
  readonly code: string;
  readonly text: string;
}

/** Thousandths by factor; "total" is their sum. */
export type ScoreTerms = Readonly<Record<string, number>>;

export interface NodeFigures {
  readonly total?: number;
  readonly needed?: number;
  readonly matching?: number;
  readonly free?: number;
  readonly failing?: readonly { readonly what: string; readonly nodes: number }[];
  readonly busy?: readonly {
    readonly allocation_id?: string;
    readonly tenant?: string;
    readonly user?: string;
    readonly nodes: number;
    readonly until?: string;
  }[];
  readonly busy_with_others?: number;
  readonly held?: readonly {
    readonly allocation_id?: string;
    readonly vcluster?: string;
    readonly nodes: number;
    readonly starts_at?: string;
  }[];
}

export interface QueueStanding {
  readonly position?: number;
  readonly length?: number;
  readonly scores?: ScoreTerms;
  readonly ahead?: readonly {
    readonly position: number;
    readonly allocation_id?: string;
    readonly tenant?: string;
    readonly user?: string;
    readonly nodes?: number;
    readonly scores?: ScoreTerms;
  }[];
  readonly reserved_start?: string;
  readonly reserved_nodes?: readonly string[];
}

export interface Suggestion {
  readonly kind: "nodes" | "walltime" | "constraint" | "vcluster";
  readonly text: string;
  readonly change?: Readonly<Record<string, string>>;
  readonly starts_at?: string;
  readonly starts_now?: boolean;
  readonly tried?: "cycle" | "plan";
}

export interface PlacedFacts {
  readonly nodes?: readonly string[];
  readonly placed_at?: string;
  readonly started_at?: string;
  readonly waited_seconds?: number;
  readonly backfilled?: boolean;
  readonly scores?: ScoreTerms;
  readonly attempt?: number;
}

export interface Explanation {
  readonly id: string;
  readonly state: string;
  readonly vcluster?: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly summary: string;
  readonly as_of?: string;
  readonly causes?: readonly Cause[];
  readonly nodes?: NodeFigures;
  readonly queue?: QueueStanding;
  readonly tenant_state?: readonly string[];
  readonly sooner?: readonly Suggestion[];
  readonly estimated_start?: string;
  /** Whether it is a promise; absent: an estimate, which may move. */
  readonly start_reserved?: boolean;
  readonly estimate_error_seconds?: number;
  /** Who is being stopped for it and is still on its nodes. */
  readonly making_room?: readonly {
    readonly allocation_id?: string;
    readonly tenant?: string;
    readonly user?: string;
    readonly nodes: number;
    readonly how: "checkpointing" | "stopping";
  }[];
  readonly placed?: PlacedFacts;
  readonly log_index?: string;
}

export interface PlanAnswer {
  readonly starts_now?: boolean;
  readonly estimated_start?: string;
  /** Whether it would be reserved; absent: an estimate, which may move. */
  readonly start_reserved?: boolean;
  readonly nodes?: readonly string[];
  readonly backfilled?: boolean;
  readonly scores?: ScoreTerms;
  readonly causes?: readonly Cause[];
  readonly would_preempt?: readonly {
    readonly allocation_id?: string;
    readonly tenant?: string;
    readonly user?: string;
    readonly nodes?: number;
    readonly preemption_class?: number;
  }[];
  readonly sooner?: readonly Suggestion[];
  readonly warnings?: readonly string[];
  readonly tenant?: string;
  readonly vcluster?: string;
  readonly position?: number;
  readonly queue_length?: number;
  readonly log_index?: string;
}

export interface TimelineEntry {
  readonly at: string;
  readonly kind: string;
  readonly text: string;
  readonly attempt?: number;
  readonly nodes?: readonly string[];
  readonly scores?: ScoreTerms;
  readonly starts_at?: string;
}

export interface Timeline {
  readonly id: string;
  readonly entries?: readonly TimelineEntry[];
  readonly left_out?: number;
  readonly log_index?: string;
}

export interface Signals {
  readonly energy_price?: number;
  readonly power?: { readonly limit: number; readonly used: number };
  readonly storage?: { readonly limit: number; readonly used: number };
  readonly congestion?: Readonly<Record<string, number>>;
  readonly efficiency?: Readonly<Record<string, number>>;
  readonly data_ready?: Readonly<Record<string, number>>;
  readonly checkpoint_minutes?: Readonly<Record<string, number>>;
  readonly valid_until?: string;
}
