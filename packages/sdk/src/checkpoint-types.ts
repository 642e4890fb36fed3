// Checkpoints as JSON shows them. What is empty or zero is left out.

export interface TakenCheckpoint {
  readonly number?: number;
  readonly attempt?: number;
  readonly at?: string;
  readonly bytes?: number;
  readonly seconds?: number;
  readonly cause?: string;
}

export interface FailedCheckpoint {
  readonly number?: number;
  readonly at?: string;
  readonly message?: string;
}

export interface RunningCheckpoint {
  readonly number?: number;
  readonly since?: string;
  readonly cause?: string;
  /** It is suspended when this is complete. */
  readonly suspends?: boolean;
  readonly message?: string;
  readonly nodes?: number;
  readonly nodes_done?: number;
  readonly percent?: number;
  readonly estimated_seconds?: number;
  readonly deferred_seconds?: number;
}

/** Whether taking one now pays; amounts in seconds of one GPU, or of one node without GPUs. */
export interface CheckpointJudgement {
  readonly verdict?: string;
  readonly reason?: string;
  readonly value?: number;
  readonly cost?: number;
  readonly recompute_saved?: number;
  readonly preemptability?: number;
  readonly backlog_relief?: number;
  readonly walltime_risk?: number;
  readonly write_time?: number;
  readonly compute_waste?: number;
  readonly storage_cost?: number;
  readonly size_bytes?: number;
  readonly since_last_seconds?: number;
  readonly failure_probability?: number;
  readonly devices?: number;
  readonly judged_at?: string;
}

export interface CheckpointStatus {
  readonly id?: string;
  readonly mode?: string;
  readonly asked?: number;
  readonly taken?: number;
  readonly last?: TakenCheckpoint;
  readonly failure?: FailedCheckpoint;
  readonly current?: RunningCheckpoint;
  readonly judgement?: CheckpointJudgement;
  readonly log_index?: string;
}

export interface ResumeResponse {
  readonly id: string;
  readonly log_index?: string;
}
