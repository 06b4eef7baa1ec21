import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment, ProviderConfig } from "@herdctl/config";
import type { ProviderSpec } from "./specs.ts";

type TokenScheme = "bearer" | "api_key";

/** Static keys of an AWS user or session. */
export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** Where the keys for SigV4 come from. */
export type AwsKeySource =
  | { from: "variables"; keys: AwsKeys }
  | { from: "profile"; profile: string; configFile: string; credentialsFile: string }
  | { from: "web_identity"; tokenFile: string; roleArn: string; sessionName?: string }
  | { from: "container"; address: { relativeUri?: string; fullUri?: string }; token?: string }
  | { from: "instance" }
  | { from: "command"; command: string };

/**
 * What authenticates the calls of a provider. `source` names it for records and messages, without
 * any secret.
 */
export type ProviderCredential =
  | { kind: "token"; source: string; scheme: TokenScheme; value: string }
  | { kind: "command"; source: string; scheme: TokenScheme; command: string }
  | { kind: "aws"; source: string; service: string; region: string; keys: AwsKeySource }
  | { kind: "google"; source: string; file?: string };

type CredentialSearch = ProviderCredential | { kind: "none"; message: string; hint: string };

/** A key or token, or for Vertex AI an identity that tokens are made from. */
export function tokenCredential(
  spec: ProviderSpec,
  settings: ProviderConfig,
  environment: Environment,
): CredentialSearch {
  const own = ownToken(spec, settings, environment);
  if (own) return own;
  const found = spec.tokens.find(({ variable }) => environment[variable]);
  const value = found && environment[found.variable];
  if (value)
    return {
      kind: "token",
      source: found.variable,
      scheme: settings.auth ?? found.scheme,
      value,
    };
  if (settings.type === "vertex") return googleCredential(settings, environment);
  const names = spec.tokens.map(({ variable }) => variable).join(" or ");
  return none(`there is no key for ${spec.label}`, `Set ${names} in the environment or in .env.`);
}

/** Keys for SigV4, or a key or token, in the order of the AWS tools. */
export function awsCredential(
  spec: ProviderSpec,
  settings: ProviderConfig,
  environment: Environment,
  region = "us-east-1",
): CredentialSearch {
  const { credential_command: command, profile } = settings;
  const service = spec.aws?.service ?? "bedrock";
  const base = { kind: "aws" as const, service, region };
  if (command) return { ...base, source: "credential_command", keys: { from: "command", command } };
  const token = ownToken(spec, settings, environment);
  if (token) return token;
  const named = profile === undefined && spec.tokens.find(({ variable }) => environment[variable]);
  const value = named && environment[named.variable];
  if (value) return { kind: "token", source: named.variable, scheme: named.scheme, value };
  const keys = findAwsKeys(settings, environment);
  if (keys) return { ...base, source: describeAwsKeys(keys), keys };
  return none(
    "there are no AWS credentials",
    "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. For the role of the machine, set `provider.instance_role: true`.",
  );
}

function ownToken(
  spec: ProviderSpec,
  { token_env, credential_command: command, auth }: ProviderConfig,
  environment: Environment,
): CredentialSearch | undefined {
  const scheme = auth ?? spec.tokenScheme;
  if (command) return { kind: "command", source: "credential_command", scheme, command };
  if (token_env === undefined) return undefined;
  const value = environment[token_env];
  if (value) return { kind: "token", source: token_env, scheme, value };
  return none(`the variable ${token_env} is not set`, `Set ${token_env} in .env.`);
}

function findAwsKeys(
  { profile, instance_role }: ProviderConfig,
  environment: Environment,
): AwsKeySource | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (profile === undefined && accessKeyId && secretAccessKey) {
    const sessionToken = environment.AWS_SESSION_TOKEN || undefined;
    return { from: "variables", keys: { accessKeyId, secretAccessKey, sessionToken } };
  }
  const folder = join(environment.HOME ?? homedir(), ".aws");
  const configFile = environment.AWS_CONFIG_FILE ?? join(folder, "config");
  const credentialsFile = environment.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials");
  const named = profile ?? environment.AWS_PROFILE;
  if (named !== undefined) return { from: "profile", profile: named, configFile, credentialsFile };
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: roleArn } = environment;
  if (tokenFile && roleArn)
    return {
      from: "web_identity",
      ...{ tokenFile, roleArn, sessionName: environment.AWS_ROLE_SESSION_NAME },
    };
  const relativeUri = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const fullUri = environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (relativeUri || fullUri)
    return {
      from: "container",
      address: { relativeUri, fullUri },
      token: environment.AWS_CONTAINER_AUTHORIZATION_TOKEN,
    };
  // defence: instance-role-opt-in
  if (instance_role) return { from: "instance" };
  return [configFile, credentialsFile].some((file) => existsSync(file))
    ? { from: "profile", profile: "default", configFile, credentialsFile }
    : undefined;
}

function describeAwsKeys(keys: AwsKeySource): string {
  if (keys.from === "profile") return `AWS profile ${keys.profile}`;
  return awsSourceNames[keys.from];
}

const awsSourceNames = {
  variables: "AWS_ACCESS_KEY_ID",
  web_identity: "AWS_WEB_IDENTITY_TOKEN_FILE",
  container: "the container's AWS role",
  instance: "the machine's AWS role",
  command: "credential_command",
} as const;

function googleCredential(settings: ProviderConfig, environment: Environment): CredentialSearch {
  const named = settings.key_file ?? environment.GOOGLE_APPLICATION_CREDENTIALS;
  const folder =
    environment.CLOUDSDK_CONFIG ?? join(environment.HOME ?? homedir(), ".config/gcloud");
  const file = named ?? join(folder, "application_default_credentials.json");
  if (existsSync(file)) {
    const source = settings.key_file
      ? "key_file"
      : named
        ? "GOOGLE_APPLICATION_CREDENTIALS"
        : "application default credentials";
    return { kind: "google", source, file };
  }
  if (named !== undefined) {
    const hint = "Correct `provider.key_file` or GOOGLE_APPLICATION_CREDENTIALS.";
    return none(`the Google credentials file ${named} does not exist`, hint);
  }
  // defence: machine-identity-opt-in
  if (settings.instance_role) return { kind: "google", source: "the machine's service account" };
  return none(
    "there are no Google credentials",
    "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS. For the identity of the machine, set `provider.instance_role: true`.",
  );
}

function none(message: string, hint: string): CredentialSearch {
  return { kind: "none", message, hint };
}
