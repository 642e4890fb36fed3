// Tasks inside an allocation, as they look in JSON.

export interface LaunchRequest {
  readonly command: readonly string[];
  readonly tasks?: number;
  readonly tasks_per_node?: number;
  readonly variables?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly pmi?: "pmi2" | "pmix" | "none";
  readonly nodes?: readonly string[];
  readonly pty?: boolean;
  readonly input?: boolean;
  readonly rows?: number;
  readonly columns?: number;
  readonly fence_timeout_seconds?: number;
  readonly caller_node?: string;
  readonly caller_attempt?: number;
}

export type LaunchEvent =
  | { readonly kind: "started"; readonly launchId: string; readonly layout: readonly NodeTasks[] }
  | { readonly kind: "output"; readonly rank: number; readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }
  | {
      readonly kind: "task_end";
      readonly rank: number;
      readonly node: string;
      readonly exitCode: number;
      readonly signal: number;
      readonly message: string;
    }
  /** The last one. `reason` is empty when every task ended well. */
  | { readonly kind: "end"; readonly exitCode: number; readonly reason: string };

export interface NodeTasks {
  readonly node: string;
  readonly first_rank: number;
  readonly tasks: number;
}
