// A minimal client of the REST interface: one request, one response.

export interface Answer<T = Json> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body of a JSON response; an empty object otherwise. */
  readonly body: T;
}

export type Json = Record<string, unknown>;

export interface Problem {
  readonly code: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly hint: string;
  readonly fields?: readonly { readonly field: string; readonly detail: string; readonly hint?: string }[];
}

export interface AllocationJson {
  readonly id: string;
  readonly state: string;
  readonly user: string;
  readonly nodes?: readonly string[];
  readonly attempt?: number;
  readonly requeues?: number;
  readonly exit_code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly pending_reasons?: readonly string[];
  readonly spec: Json;
  readonly submitted_at: string;
  readonly started_at?: string;
  readonly ended_at?: string;
}

export interface NodeJson {
  readonly id: string;
  readonly state: string;
  readonly cause?: string;
  /** Fingerprint of hardware and software. */
  readonly conformance?: string;
  readonly claims?: readonly {
    readonly allocation_id: string;
    readonly attempt: number;
    readonly exclusive?: boolean;
    readonly gpu_count?: number;
  }[];
  readonly connected?: boolean;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const REQUEST_WITHIN_MS = 60_000;

export async function request<T = Json>(base: string, method: string, path: string, options: RequestOptions = {}) {
  const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(payload === undefined ? {} : { "content-type": options.type ?? "application/json" }),
      ...options.headers,
    },
    ...(payload === undefined ? {} : { body: payload }),
    signal: options.signal ?? AbortSignal.timeout(REQUEST_WITHIN_MS),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const body = (isJson && text !== "" ? JSON.parse(text) : {}) as T;
  return { status: response.status, headers: response.headers, text, body } satisfies Answer<T>;
}

/** Returns the status of an error. On a slow machine the error may arrive inside the requested stream. */
export function errorStatus({ status, body }: Answer): number {
  const { problem } = body as { readonly problem?: Problem };
  return problem === undefined ? status : problem.status;
}
