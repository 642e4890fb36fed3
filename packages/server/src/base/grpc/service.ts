// A gRPC service with its methods, as the listener registers it.

import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import type { ServiceDefinition } from "@lattice/wire";

export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}
