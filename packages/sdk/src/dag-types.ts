// DAGs as the REST interface tells them.

import type { Dependency, TaskGroupStatus } from "./group-types.ts";
import type { AllocationState, Paging } from "./types.ts";

export type DagState = "running" | "completed" | "failed" | "cancelled";

export interface DagMember {
  readonly name: string;
  readonly allocation_id: string;
  readonly state: AllocationState;
  readonly reason?: string;
  readonly depends_on?: readonly Dependency[];
  readonly group?: TaskGroupStatus;
}

export interface Dag {
  readonly id: string;
  readonly name?: string;
  readonly state: DagState;
  readonly user?: string;
  readonly tenant?: string;
  readonly submitted_at?: string;
  readonly ended_at?: string;
  readonly members?: readonly DagMember[];
  readonly size?: number;
  readonly ended?: number;
  readonly log_index?: string;
}

/** Members side by side, each in any form of a submission; the server checks them. */
export type DagSubmission = Readonly<Record<string, unknown>>;

export interface SubmitDagResponse {
  readonly id: string;
  readonly state?: DagState;
  readonly members?: readonly DagMember[];
  readonly warnings?: readonly string[];
  readonly log_index?: string;
}

export interface DagGraph {
  readonly id: string;
  readonly nodes?: readonly Pick<DagMember, "name" | "allocation_id" | "state">[];
  readonly edges?: readonly { readonly from: string; readonly to: string; readonly condition: string }[];
}

export interface DagFilter extends Paging {
  readonly tenant?: string;
  readonly user?: string;
  readonly state?: readonly DagState[];
}

export interface DagPage {
  readonly dags?: readonly Dag[];
  readonly next_page_token?: string;
  readonly total?: number;
}

export interface CancelDagResponse {
  readonly id: string;
  readonly state?: DagState;
  readonly log_index?: string;
}
