// The public surface of the package: the contract, and the conversions between it and plain values.

export { parseJsonText } from "./body/json-text.ts";
export { DEFAULT_BODY_LIMITS } from "./body/limits.ts";
export { parseBody } from "./body/parse-body.ts";
export * from "./convert/allocation.ts";
export * from "./convert/amounts.ts";
export * from "./convert/audit.ts";
export { checkpointStatus } from "./convert/checkpoint.ts";
export * from "./convert/dag.ts";
export * from "./convert/dependencies.ts";
export * from "./convert/event.ts";
export * from "./convert/group.ts";
export * from "./convert/group-shape.ts";
export * from "./convert/group-status.ts";
export * from "./convert/node.ts";
export { outputToProto } from "./convert/output-files.ts";
export { probeToProto } from "./convert/service.ts";
export { serviceChangeFromProto } from "./convert/service-change.ts";
export { sharingFromProto } from "./convert/sharing.ts";
export * from "./convert/spec-from-proto.ts";
export * from "./convert/spec-to-proto.ts";
export * from "./convert/states.ts";
export { telemetryMode } from "./convert/telemetry.ts";
export * from "./convert/tenant.ts";
export { insideToProto } from "./convert/topology.ts";
export { attemptUsagesToProto, usageFromProto, usageToProto } from "./convert/used-resources.ts";
export * from "./convert/vcluster.ts";
export { withDeadline } from "./deadline.ts";
export { compressHosts, consecutive, expandHostlist } from "./directives/hostlist.ts";
export { hostlistOf } from "./directives/hostlist-in-order.ts";
export { LATTICE_OPTIONS } from "./directives/lattice.ts";
export type { Option } from "./directives/options.ts";
export { MAX_SCRIPT_BYTES, type ParsedScript, parseScript } from "./directives/script.ts";
export {
  checkpointOf,
  exposedOf,
  gpusFrom,
  memoryGbFrom,
  mountWithKeys,
  numeric,
  probeFrom,
} from "./directives/short-values.ts";
export { type SlurmMapping, slurmOutputFile } from "./directives/slurm.ts";
export { DEFAULT_QOS_CLASSES, SLURM_SHORT } from "./directives/slurm-table.ts";
export * from "./errors/catalogue.ts";
export * from "./errors/field-list.ts";
export * from "./errors/problem.ts";
export * from "./errors/problem-grpc.ts";
export * from "./errors/problem-json.ts";
export * from "./errors/render.ts";
export * from "./grpc/service-definition.ts";
export { fromJson, MAX_DEPTH, MAX_ITEMS } from "./json/from-json.ts";
export * from "./json/timestamp.ts";
export { toJson } from "./json/to-json.ts";
export { jsonPieces, keepText, toJsonText } from "./json/to-text.ts";
export type { Json, JsonObject } from "./json/value.ts";
export { parseSlurmTime, parseWalltime } from "./json/walltime.ts";
export { dagFromJson, normaliseDag } from "./normalise/dag.ts";
export { groupIndexes, type WrittenRange } from "./normalise/group-indexes.ts";
export { mergeSubmissions } from "./normalise/merge.ts";
export { normaliseSubmission, submissionFromJson } from "./normalise/submission.ts";
export { type OpenApiDocument, openapi } from "./openapi/openapi.ts";
export * as pb from "./pb.ts";
export {
  type BearerKind,
  certifyAgain,
  certifyAgent,
  firstOfLine,
  issue,
  MEMBER_NAME,
  makeAuthority,
  type Pem,
} from "./pki/authority.ts";
export { renewalText } from "./pki/proof.ts";
export { type Revocation, readRevocations, writeRevocations } from "./pki/revocations.ts";
export { serialDigits } from "./pki/serial.ts";
export { isFlat, type Query } from "./routes/query.ts";
export * from "./routes/request.ts";
export * from "./routes/routes.ts";
export {
  type ChunkEntry,
  chunkKey,
  type LogOwner,
  metadataKey,
  type NodeMetadata,
  nodeMetadataKey,
} from "./stored-logs/layout.ts";
export { skippedLine } from "./stored-logs/skipped.ts";
export { type EnrolmentToken, enrolmentToken, parseEnrolmentToken } from "./text/enrolment-token.ts";
export { METRICS } from "./text/metric-names.ts";
export { nearest } from "./text/nearest.ts";
export { fillOutputPath, isPerNode } from "./text/output-path.ts";
export { parseS3, type S3Place } from "./text/s3-place.ts";
export { AGENT_URIS, type Bearer, bearerOf, nodeMismatch, type ShownCertificate } from "./tls/bearer.ts";
export { certificateProvider } from "./tls/certificate-provider.ts";
export * from "./websocket/connection.ts";
export * from "./websocket/frames.ts";
export * from "./websocket/protocols.ts";
