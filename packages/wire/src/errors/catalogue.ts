// The one error catalogue: what every code means to HTTP, gRPC, the shell and a person. REST, gRPC
// and the CLI render the same entry; docs/reference/errors.md is printed from this table. A new
// refusal code in the core does not compile until it is listed here.

import type { RefusalCode } from "@lattice/core";

export interface CatalogueEntry {
  /** HTTP status. */
  readonly http: number;
  /** gRPC status number. */
  readonly grpc: number;
  /** Exit status of the CLI. */
  readonly exit: number;
  readonly title: string;
  /** What to do next, when the problem itself brings no better hint. */
  readonly hint: string;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
}

const GRPC = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const EXIT = { internal: 1, invalid: 2, unknown: 3, access: 4, conflict: 5, limit: 6, unavailable: 7 } as const;

const entry = (
  http: number,
  grpc: number,
  exit: number,
  title: string,
  hint: string,
  retryable = false,
): CatalogueEntry => ({ http, grpc, exit, title, hint, retryable });

export const ERRORS = /* @__PURE__ */ Object.freeze({
  invalid_argument: entry(
    400,
    GRPC.invalidArgument,
    EXIT.invalid,
    "The request is not valid",
    "Correct the fields named and send the request again.",
  ),
  malformed_body: entry(
    400,
    GRPC.invalidArgument,
    EXIT.invalid,
    "The request body cannot be read",
    "Send one JSON or YAML object.",
  ),
  body_too_large: entry(
    413,
    GRPC.resourceExhausted,
    EXIT.invalid,
    "The request body is too large",
    "Put large input into a file on shared storage and name it in the submission.",
  ),
  unsupported_media_type: entry(
    415,
    GRPC.invalidArgument,
    EXIT.invalid,
    "The content type is not supported",
    'Send "Content-Type: application/json" or "application/yaml".',
  ),
  unsupported_feature: entry(
    400,
    GRPC.unimplemented,
    EXIT.invalid,
    "This version does not offer a feature the request uses",
    "Remove the fields named, or use a version that offers them.",
  ),
  unauthenticated: entry(401, GRPC.unauthenticated, EXIT.access, "Not logged in", "Send a valid token."),
  identity_unavailable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "Tokens cannot be checked at present",
    "Try again shortly; the server needs its identity provider.",
    true,
  ),
  forbidden: entry(
    403,
    GRPC.permissionDenied,
    EXIT.access,
    "Not permitted",
    "Ask an administrator of your tenant for the role this needs.",
  ),
  tenant_mismatch: entry(
    403,
    GRPC.permissionDenied,
    EXIT.access,
    "The tenant may not use this",
    "Choose a vCluster that serves your tenant; `lattice admin vcluster list` shows them.",
  ),
  not_found: entry(
    404,
    GRPC.unimplemented,
    EXIT.unknown,
    "No such path",
    "The paths are listed at /api/v1/openapi.json.",
  ),
  unknown_allocation: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such allocation",
    "List allocations with `lattice status --all`.",
  ),
  logs_unavailable: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "The output is not there",
    "Output is kept on the node for a while after the end; `lattice status ID` shows when that was.",
  ),
  unknown_dag: entry(404, GRPC.notFound, EXIT.unknown, "No such DAG", "List DAGs with `lattice dag list`."),
  unknown_node: entry(404, GRPC.notFound, EXIT.unknown, "No such node", "List nodes with `lattice nodes`."),
  unknown_launch: entry(404, GRPC.notFound, EXIT.unknown, "No such launch", "Start one with `lattice launch`."),
  unknown_tenant: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such tenant",
    "Name an existing tenant, or ask an administrator to create it.",
  ),
  unknown_vcluster: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such vCluster",
    "Name an existing vCluster; `lattice admin vcluster list` shows them.",
  ),
  unknown_member: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such member",
    "List the members with `lattice admin raft status`.",
  ),
  method_not_allowed: entry(
    405,
    GRPC.unimplemented,
    EXIT.invalid,
    "The path does not take this method",
    "The Allow header lists the methods of this path.",
  ),
  unknown_backup: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such backup",
    "List them with `lattice admin backup list`.",
  ),
  backup_unusable: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The backup cannot be used",
    "See what is wrong with `lattice admin backup verify --source SOURCE`, and take another one.",
  ),
  backup_failed: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The backup could not be written or read",
    "See that the destination is there, has space, and that the server may write to it.",
  ),
  cluster_not_empty: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The cluster is not empty",
    "Start a new cluster, and restore into it before its agents are started.",
  ),
  already_exists: entry(
    409,
    GRPC.alreadyExists,
    EXIT.conflict,
    "It exists already",
    "Choose another name, or update the existing one.",
  ),
  conflict: entry(
    409,
    GRPC.aborted,
    EXIT.conflict,
    "The request conflicts with the current state",
    "Read the current state and decide again.",
  ),
  illegal_transition: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "Not possible in the current state",
    "Look at its current state first.",
  ),
  not_owner: entry(
    403,
    GRPC.permissionDenied,
    EXIT.access,
    "It belongs to somebody else",
    "Only the owner of an allocation may have a terminal in it.",
  ),
  not_running: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The allocation does not run now",
    "A terminal needs a running allocation; `lattice status ID` shows its state.",
  ),
  terminal_unavailable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The terminal cannot be opened",
    "Look at the node with `lattice nodes ID`, or try another with --node.",
  ),
  too_many_terminals: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many terminals are open",
    "Close one of them first; an administrator can raise rate_limits.attach_max_concurrent.",
  ),
  unknown_service: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such service",
    "A service is there while its allocation runs; the list is at /api/v1/services.",
  ),
  unknown_session: entry(404, GRPC.notFound, EXIT.unknown, "No such session", "See `lattice session list`."),
  request_conflict: entry(
    409,
    GRPC.aborted,
    EXIT.conflict,
    "The request id was used for another request",
    "Use a new request_id for a new request; repeat one only with the same body.",
  ),
  majority_at_risk: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The cluster could lose its majority",
    "Nothing was changed. Repair or remove a member that does not answer; `lattice admin raft status` shows them.",
  ),
  upgrade_unfinished: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "Not all servers have been upgraded",
    "Finish the upgrade of the servers named, then try again; `lattice admin raft status` shows them.",
  ),
  stale_plan: entry(
    409,
    GRPC.aborted,
    EXIT.conflict,
    "The plan is based on an old state",
    "The next scheduling cycle decides again.",
    true,
  ),
  node_unavailable: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The node is not available",
    "Look at the node with `lattice nodes ID`.",
    true,
  ),
  constraint_unmet: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "A node does not satisfy the constraints",
    "Relax the constraints, or wait for nodes that satisfy them.",
  ),
  not_assigned: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The node is not assigned to this attempt",
    "The report is void; nothing needs to be done.",
  ),
  stale_report: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The report is about something that is over",
    "The report is void; nothing needs to be done.",
  ),
  cursor_gone: entry(
    410,
    GRPC.outOfRange,
    EXIT.conflict,
    "The events after this cursor are no longer kept",
    "List again, then watch from now on.",
  ),
  quota_exceeded: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "The request exceeds a quota",
    "Cancel running allocations or request a quota increase from your tenant admin.",
  ),
  rate_limited: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many requests",
    "Wait as long as the Retry-After header says, then go on more slowly.",
    true,
  ),
  too_many_streams: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many streams are open",
    "Close one of them first; an administrator can raise the limit in rate_limits.",
  ),
  stream_stalled: entry(
    408,
    GRPC.resourceExhausted,
    EXIT.unavailable,
    "The stream was not read for too long",
    "Open it again from the last position that came, and read it as it comes.",
    true,
  ),
  headers_too_large: entry(
    431,
    GRPC.resourceExhausted,
    EXIT.invalid,
    "The headers are too large",
    "Send fewer or shorter headers; a token has a few kilobytes.",
  ),
  internal: entry(
    500,
    GRPC.internal,
    EXIT.internal,
    "The server failed",
    "This is a defect; report it together with the server's log.",
  ),
  not_leader: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "No leader answers at present",
    "An election takes a few seconds; try again.",
    true,
  ),
  log_unavailable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The log cannot be written at present",
    "Nothing was changed; try again, and look at `lattice admin raft status`.",
    true,
  ),
  storage_full: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The server's storage is full",
    "Nothing was changed; an administrator has to free space in the data directory.",
    true,
  ),
  shutting_down: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The server is stopping",
    "Try again in a few seconds.",
    true,
  ),
  node_unreachable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The node's agent is not connected",
    "Try again when the node is back; `lattice nodes ID` shows its state.",
    true,
  ),
  image_unavailable: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "The image cannot be had",
    "`lattice uenv list` shows the images of the registry.",
    false,
  ),
  connection_failed: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "The server cannot be reached",
    "Check the address (LATTICE_API_URL or api_url), or start a cluster with `lattice up`.",
    true,
  ),
  deadline_exceeded: entry(
    504,
    GRPC.deadlineExceeded,
    EXIT.unavailable,
    "It took too long",
    "Try again; a change that was under way may have been carried out.",
    true,
  ),
} satisfies Record<RefusalCode, CatalogueEntry> & Record<string, CatalogueEntry>);

export type ErrorCode = keyof typeof ERRORS;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
