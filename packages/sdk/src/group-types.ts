// Task groups and dependencies as the REST interface tells them.

export interface Dependency {
  readonly ref: string;
  readonly condition?: string;
}

export interface TaskGroupRange {
  readonly start?: number;
  readonly end?: number;
  readonly step?: number;
  readonly concurrency?: number;
  /** Only these: "1,3,5-7". */
  readonly indexes?: string;
}

export interface TaskGroupStatus {
  readonly range?: TaskGroupRange;
  readonly size?: number;
  /** Not yet in the queue. */
  readonly waiting?: number;
  /** Which: "5-7,9", "1-9:2"; ends in ",..." where there are too many to tell. */
  readonly waiting_indexes?: string;
  /** Which of these are held one by one, by their owner and by an administrator. */
  readonly held_indexes?: string;
  readonly admin_held_indexes?: string;
  readonly pending?: number;
  readonly running?: number;
  readonly completed?: number;
  readonly failed?: number;
  readonly cancelled?: number;
  /** Until somebody resumes them. */
  readonly suspended?: number;
}
