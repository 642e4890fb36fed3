// The interfaces of a server for tests of every route: requests on pooled connections, upgrades, and gRPC calls. Each
// returns whether the caller was authorized, and the answer.

import { Agent, request as openRequest } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { problemFromJson } from "@lattice/wire";
import { metadataOf, methodOf, problemOfService, type RestRequest, type Running, upgradeHttp } from "./clients.ts";

export interface Seen {
  /** The code of the problem, or "ok". */
  readonly code: string;
  /** 401 or 403, UNAUTHENTICATED or PERMISSION_DENIED. */
  readonly refused: boolean;
  readonly text: string;
}

export interface Interfaces {
  /** `streams`: only the start of the answer is read. */
  rest(request: RestRequest, token: string | null, streams?: boolean): Promise<Seen>;
  upgrade(path: string, token: string | null): Promise<Seen>;
  /** The first message of an answer, if any. */
  grpc(rpc: string, message: Message, token: string | null): Promise<Seen>;
  close(): void;
}

const headersOf = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

const ok = (text: string): Seen => ({ code: "ok", refused: false, text });

function answered(httpStatus: number, text: string): Seen {
  if (httpStatus < 400) return ok(text);
  const code = text === "" ? String(httpStatus) : problemFromJson(JSON.parse(text), httpStatus).code;
  return { code, refused: httpStatus === 401 || httpStatus === 403, text };
}

export function openInterfaces(running: Running, atOnce: number): Interfaces {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const refusals: readonly number[] = [status.UNAUTHENTICATED, status.PERMISSION_DENIED];
  const notServed = (error: ServiceError): Seen => {
    const { code, detail } = problemOfService(error);
    return { code, refused: refusals.includes(error.code), text: detail };
  };

  return {
    rest: ({ method = "GET", path, headers = {}, body }, token, streams = false) =>
      new Promise((resolve, reject) => {
        const options = { method, headers: { ...headers, ...headersOf(token) }, agent };
        const asked = openRequest(`${running.rest}${path}`, options, (response) => {
          const code = response.statusCode ?? 0;
          if (streams && code < 400) {
            resolve(ok(""));
            response.destroy();
            return;
          }
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("end", () => resolve(answered(code, Buffer.concat(parts).toString("utf8"))));
          response.on("error", reject);
        });
        asked.on("error", reject);
        asked.end(body);
      }),

    async upgrade(path, token) {
      const { status, text } = await upgradeHttp(running, path, headersOf(token));
      return status === 101 ? ok("") : answered(status, text);
    },

    grpc: (rpc, message, token) =>
      new Promise((resolve) => {
        const { path, requestSerialize, responseDeserialize, requestStream, responseStream } = methodOf(rpc);
        const told = (error: ServiceError | null, answer?: Message): void =>
          resolve(error === null ? ok(textOf(answer)) : notServed(error));
        const metadata = metadataOf(headersOf(token));
        const client = running.grpc;
        if (!responseStream) {
          client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, metadata, told);
          return;
        }
        const both = requestStream
          ? client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata)
          : null;
        const call =
          both ?? client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, message, metadata);
        call.on("data", (first: Message) => {
          told(null, first);
          call.cancel();
        });
        call.on("end", () => told(null));
        call.on("error", (error: ServiceError) => told(error));
        both?.write(message);
      }),

    close: () => agent.destroy(),
  };
}

const textOf = (message: unknown): string =>
  JSON.stringify(message, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)) ?? "";
