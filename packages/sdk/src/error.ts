// Errors of the client. Every failure, including network failures, becomes a problem of the error
// catalogue: programs handle `error.problem.code`, people read detail and hint.
// Only an abort by the caller keeps its own type, `TransportError` of kind "aborted".

import { type Problem, ProblemError, problem, problemFromJson } from "@lattice/wire";
import type { TransportError } from "./transport/transport.ts";

export class LatticeError extends ProblemError {
  /** The HTTP status of the response, or 0 without a response. */
  readonly httpStatus: number;
  constructor(what: Problem, httpStatus: number) {
    super(what.code, what);
    this.name = "LatticeError";
    this.httpStatus = httpStatus;
  }
}

/** Returns the problem of an unsuccessful response, also of a response from a proxy. */
export const errorFromAnswer = (status: number, body: string): LatticeError =>
  new LatticeError(problemFromJson(parseJson(body), status), status);

export function errorFromTransport(error: TransportError, baseUrl: string): Error {
  switch (error.kind) {
    case "unreachable":
      return new LatticeError(
        problem("connection_failed", {
          detail: `no server answers at ${baseUrl} (${error.message})`,
          hint: "Is the cluster running? Start one with: lattice up",
        }),
        0,
      );
    case "broken":
      return new LatticeError(
        problem("connection_failed", {
          detail: `the connection to ${baseUrl} broke (${error.message})`,
          hint: "Retry; the change may have been applied.",
        }),
        0,
      );
    case "timeout":
      return new LatticeError(problem("deadline_exceeded", { detail: error.message }), 0);
    case "aborted":
      return error;
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return { detail: body.trim().slice(0, 200) };
  }
}
