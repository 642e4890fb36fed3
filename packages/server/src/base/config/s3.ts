// Access to an object store. The secret key is a reference or comes from the variables of AWS tools; a literal secret is refused,
// since configurations are copied, kept in repositories and read by many. The id of the key is not secret and may be literal.

import type { ConfigProblem } from "./problem.ts";
import { type EnvironmentVariables, isReference, readSecret, type SecretResult } from "./secret.ts";
import type { Settings } from "./table/index.ts";

export interface S3Options {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

type S3Settings = Settings["backup"]["s3"];

export function s3Problems(
  { s3, place }: { readonly s3: S3Settings; readonly place: string | null },
  environment: EnvironmentVariables,
): readonly ConfigProblem[] {
  const keys = [
    { name: "access_key_id", read: keyId(s3, environment) },
    { name: "secret_access_key", read: secretKey(s3, environment) },
  ];
  const problems = keys.flatMap(({ name, read }) =>
    read?.kind === "missing" ? [{ path: `s3.${name}`, message: read.problem }] : [],
  );
  const isNeeded = place?.startsWith("s3:") === true;
  if (problems.length > 0 || !isNeeded || s3Options(s3, environment) !== null) return problems;
  const message =
    "must have access_key_id and secret_access_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY be set";
  return [{ path: "s3", message }];
}

/** Returns `null` without credentials. */
export function s3Options(s3: S3Settings, environment: EnvironmentVariables): S3Options | null {
  const id = keyId(s3, environment);
  const secret = secretKey(s3, environment);
  if (id?.kind !== "found" || secret?.kind !== "found") return null;
  const region = s3.region ?? environment.AWS_REGION ?? "us-east-1";
  const endpoint = s3.endpoint ?? environment.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`;
  return { endpoint, region, accessKeyId: id.value, secretAccessKey: secret.value };
}

function keyId({ accessKeyId: id }: S3Settings, environment: EnvironmentVariables): SecretResult | null {
  if (id === null) return variable("AWS_ACCESS_KEY_ID", environment);
  return isReference(id) ? readSecret(id, environment) : { kind: "found", value: id };
}

const secretKey = ({ secretAccessKey: key }: S3Settings, environment: EnvironmentVariables): SecretResult | null =>
  key === null ? variable("AWS_SECRET_ACCESS_KEY", environment) : readSecret(key, environment);

function variable(name: string, environment: EnvironmentVariables): SecretResult | null {
  const value = environment[name] ?? "";
  return value === "" ? null : { kind: "found", value };
}
