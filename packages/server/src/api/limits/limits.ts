// Limits of the API, each with its reason. Limits of the contract, such as lengths of names and sizes of scripts, are
// checked with the spec in `core`.

/** The largest request over REST and gRPC: a script of 4 MiB, doubled by JSON escapes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The default page size: a screen or two. */
export const DEFAULT_PAGE_SIZE = 100;
/** Bounds the time one list may hold the event loop. */
export const MAX_PAGE_SIZE = 1_000;

/** Users listed in one usage answer; the total counts all. */
export const MAX_USERS_SHOWN = 1_000;

/** Reads of the archive per page when the archive cannot apply a filter itself. */
export const MAX_ARCHIVE_ROUNDS = 8;

/** Query strings and path parameters; longer ones cannot name anything. */
export const MAX_PARAM_LENGTH = 1_024;
/** Reasons that people type when they cancel or drain. */
export const MAX_REASON_LENGTH = 1_024;
export const MAX_DESCRIPTION_LENGTH = 1_024;
/** The value of a setting: a table with a figure for each of a hundred tenants. */
export const MAX_SETTING_LENGTH = 4_096;

/** The command line of a terminal. */
export const MAX_COMMAND_LENGTH = 128 * 1024 - 1;
export const MAX_TERM_LENGTH = 64;
/** Rows or columns; the kernel's own limit is 65,535. */
export const MAX_TERMINAL_SIDE = 4_096;
/** A paste into a terminal arrives in pieces of at most this size. */
export const MAX_TERMINAL_FRAME_BYTES = 1024 * 1024;
/** Pings per keepalive timeout of a terminal's client. */
export const TERMINAL_PINGS = 3;

/** How long a follower waits for its replica to apply a write that the leader made for its caller. */
export const FORWARD_CATCH_UP_MS = 5_000;
/** How long a read waits for the index that it must reflect. */
export const READ_WAIT_MS = 10_000;

/** Proxies close silent connections after 30 to 60 s. */
export const STREAM_KEEPALIVE_MS = 15_000;
/** Errors within this time become an HTTP status; later ones are sent inside the stream. */
export const STREAM_START_GRACE_MS = 50;

/** Longer than the idle time of usual load balancers, so that they close first. */
export const KEEP_ALIVE_MS = 75_000;
/** How often connections are checked for slow clients; Node's default of 30 s would double the timeout. */
export const CONNECTIONS_CHECK_MS = 5_000;
/** Names and values of the headers of one REST request: a token and some more. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Per listener. */
export const MAX_CONNECTIONS = 20_000;
/** Over gRPC. A follower relays the streams of all its agents over one connection to the leader. */
export const MAX_STREAMS_PER_CONNECTION = 20_000;

/** How long a stop waits for running requests. */
export const CLOSE_DEADLINE_MS = 5_000;

/** How long a service may take to accept a connection. */
export const PROXY_CONNECT_MS = 5_000;
/** Endpoints that are tried for one request without a body. */
export const PROXY_ENDPOINT_TRIES = 3;

/** How long a launch waits for an allocation that is about to run. */
export const LAUNCH_WAIT_MS = 30_000;

/** Pause before the log of a disconnected node is requested again. */
export const LOG_RETRY_MS = 500;
/** Retries of an interrupted log after its allocation has ended: its node is back within seconds, or lost. */
export const LOG_TRIES_AFTER_END = 40;
