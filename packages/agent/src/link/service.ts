// The agent's side of the contract: the calls of AgentService in the form that grpc-js expects.

import { pb, serviceDefinition } from "@lattice/wire";

interface Call<Request, Response> {
  readonly path: string;
  readonly serialize: (message: Request) => Buffer;
  readonly deserialize: (bytes: Buffer) => Response;
}

export const connectCall = callNamed<pb.AgentMessage, pb.ServerMessage>("Connect");
export const sendLogsCall = callNamed<pb.AgentLogChunk, pb.SendLogsResponse>("SendLogs");
export const serveTerminalCall = callNamed<pb.ServeTerminalRequest, pb.ServeTerminalResponse>("ServeTerminal");
export const runTasksCall = callNamed<pb.TasksReport, pb.TasksOrder>("RunTasks");
export const renewCertificateCall = callNamed<pb.RenewCertificateRequest, pb.RenewCertificateResponse>(
  "RenewCertificate",
);
export const issueCertificateCall = callNamed<pb.IssueCertificateRequest, pb.IssueCertificateResponse>(
  "IssueCertificate",
);

function callNamed<Request extends object, Response>(name: string): Call<Request, Response> {
  const method = serviceDefinition(pb.AgentService)[name];
  if (method === undefined) throw new Error(`the contract has no AgentService.${name}`);
  return {
    path: method.path,
    serialize: method.requestSerialize as unknown as Call<Request, Response>["serialize"],
    deserialize: method.responseDeserialize as unknown as Call<Request, Response>["deserialize"],
  };
}
