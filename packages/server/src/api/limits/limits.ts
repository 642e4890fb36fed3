// Every bound of the API in one place, each beside its reason. The contract's own bounds (lengths
// of names, sizes of scripts) are checked with the specification in `core`; these are what the
// doors add.

/** Largest request, over REST and gRPC alike: a script of 4 MiB, doubled by JSON's escapes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** What a list answers when nothing is asked for: a screen or two. */
export const DEFAULT_PAGE_SIZE = 100;
/** Bounds the time one list may hold the event loop. */
export const MAX_PAGE_SIZE = 1_000;

/** Users that one answer about a tenant's usage names; the total counts all. */
export const MAX_USERS_SHOWN = 1_000;

/** Rounds over the archive for one page when a filter is not known to it. */
export const MAX_ARCHIVE_ROUNDS = 8;

/** Query strings and path parameters; longer ones cannot name anything. */
export const MAX_PARAM_LENGTH = 1_024;
/** Reasons that people type when they cancel or drain. */
export const MAX_REASON_LENGTH = 1_024;
export const MAX_DESCRIPTION_LENGTH = 1_024;
/** Of a setting's value; a table with a figure for each of a hundred tenants. */
export const MAX_SETTING_LENGTH = 4_096;

/** Of a command line for a terminal. */
export const MAX_COMMAND_LENGTH = 128 * 1024 - 1;
export const MAX_TERM_LENGTH = 64;
/** Rows or columns; the kernel's own limit is 65,535. */
export const MAX_TERMINAL_SIDE = 4_096;
/** A paste into a terminal arrives in pieces of at most this size. */
export const MAX_TERMINAL_FRAME_BYTES = 1024 * 1024;
/** How often a person's end of a terminal is asked for a sign of life before it is taken for gone. */
export const TERMINAL_PINGS = 3;

/** How long a follower waits for its replica to apply a write that the leader made for its caller. */
export const FORWARD_CATCH_UP_MS = 5_000;
/** How long a read waits for the index it must see. */
export const READ_WAIT_MS = 10_000;

/** Proxies close silent connections after 30 to 60 s. */
export const STREAM_KEEPALIVE_MS = 15_000;
/** An error in this time is answered by a status; later ones travel inside the stream. */
export const STREAM_START_GRACE_MS = 50;

/** Longer than the idle time of usual load balancers, so that they close first. */
export const KEEP_ALIVE_MS = 75_000;
/** How often connections are looked at for clients that send byte by byte; Node's own 30 s would double the time. */
export const CONNECTIONS_CHECK_MS = 5_000;
/** Of one request over REST, names and values together: a token and a few more. */
export const MAX_HEADER_BYTES = 16 * 1024;
/** Per listener; what comes beyond waits for the kernel to turn it away. */
export const MAX_CONNECTIONS = 20_000;
/** Over gRPC. A server passes the streams of all agents that it serves on over one connection to the leader. */
export const MAX_STREAMS_PER_CONNECTION = 20_000;

/** How long a stop waits for requests under way. */
export const CLOSE_DEADLINE_MS = 5_000;

/** How long a service may take to accept a connection. */
export const PROXY_CONNECT_MS = 5_000;
/** Endpoints that one request without a body is tried on. */
export const PROXY_ENDPOINT_TRIES = 3;

/** How long a launch waits for an allocation that is about to run. */
export const LAUNCH_WAIT_MS = 30_000;

/** Pause before a log whose node went away is asked for again. */
export const LOG_RETRY_MS = 500;
/** Times that a log which broke off is asked for again after its allocation has ended: its node is back in seconds, or gone. */
export const LOG_TRIES_AFTER_END = 40;
